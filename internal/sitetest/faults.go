package sitetest

import (
	"net/http"
	"path"
	"strings"
	"sync"
)

// Fault answers a request in place of the site; honest gives the true answer,
// to be bent.
type Fault func(w http.ResponseWriter, r *http.Request, honest http.Handler)

type placed struct {
	pattern string
	times   int // left; negative: always
	fault   Fault
}

type faults struct {
	mu   sync.Mutex
	list []*placed
}

// Fail lays a fault over paths until the returned function is called. The
// pattern is "" for everything, a path with query, or a pattern of path.Match
// on the path ("/wp-sitemap-*.xml"). The fault laid last goes first.
func (s *Site) Fail(pattern string, fault Fault) (undo func()) {
	return s.FailTimes(pattern, -1, fault)
}

// FailTimes is Fail for the next requests only, times of them.
func (s *Site) FailTimes(pattern string, times int, fault Fault) (undo func()) {
	p := &placed{pattern, times, fault}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.list = append(s.faults.list, p)
	return func() {
		s.faults.mu.Lock()
		defer s.faults.mu.Unlock()
		p.times = 0
	}
}

// Heal takes all faults away.
func (s *Site) Heal() {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.list = nil
}

func (f *faults) take(r *http.Request) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.list) - 1; i >= 0; i-- {
		p := f.list[i]
		if p.times == 0 || !fits(p.pattern, r) {
			continue
		}
		if p.times > 0 {
			p.times--
		}
		return p.fault
	}
	return nil
}

func fits(pattern string, r *http.Request) bool {
	if pattern == "" || pattern == r.URL.RequestURI() {
		return true
	}
	if strings.Contains(pattern, "?") && strings.Contains(pattern, "=") {
		return false // a query, compared whole above
	}
	ok, err := path.Match(pattern, r.URL.Path)
	return ok && err == nil
}
