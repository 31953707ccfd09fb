package sitetest

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// Request is one line of the request log.
type Request struct {
	Method string
	Path   string // with query
	Header http.Header
	At     time.Time
	Status int   // 0 while it runs or when the connection was cut first
	Bytes  int64 // of the body
}

const keptRequests = 200_000

type requestLog struct {
	mu      sync.Mutex
	lines   []*Request
	total   int
	running int
	most    int
	hooks   []func(n int, r *http.Request)
}

func (l *requestLog) begin(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total++
	l.running++
	l.most = max(l.most, l.running)
	line := &Request{Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), At: time.Now()}
	if len(l.lines) < keptRequests {
		l.lines = append(l.lines, line)
	}
	counted := &countingWriter{ResponseWriter: w}
	return counted, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.running--
		line.Status, line.Bytes = counted.status, counted.bytes
	}
}

func (l *requestLog) hook(r *http.Request) {
	l.mu.Lock()
	n, hooks := l.total, slices.Clone(l.hooks)
	l.mu.Unlock()
	for _, f := range hooks {
		f(n, r)
	}
}

// OnRequest runs f before each request is answered; n counts from 1. Edits made
// in f are seen by the answer: that is how a walk reads two states.
func (s *Site) OnRequest(f func(n int, r *http.Request)) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.log.hooks = append(s.log.hooks, f)
}

// Requests is the log so far.
func (s *Site) Requests() []Request {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	out := make([]Request, len(s.log.lines))
	for i, line := range s.log.lines {
		out[i] = *line
	}
	return out
}

// Count is how often a path with query was asked for; "" counts everything.
func (s *Site) Count(path string) int {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if path == "" {
		return s.log.total
	}
	n := 0
	for _, line := range s.log.lines {
		if line.Path == path {
			n++
		}
	}
	return n
}

// MostAtOnce is the largest number of requests that ran together.
func (s *Site) MostAtOnce() int {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.most
}

// ResetLog empties the log and its counters; hooks stay, and their count starts anew.
func (s *Site) ResetLog() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.log.lines, s.log.total, s.log.most = nil, 0, s.log.running
}

type countingWriter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *countingWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap serves http.ResponseController.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
