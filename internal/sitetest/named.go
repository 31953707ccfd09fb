package sitetest

import "net/http"

// NamedFault is one way in which a site can be broken without anything having
// been unpublished.
type NamedFault struct {
	Name string
	// Lay breaks the site until undo is called.
	Lay func(s *Site) (undo func())
}

// NoRemovals are faults after which a reader must have removed nothing: each
// hides published pages. DNS and TLS faults are missing, they are the client's
// side. A layout with more than one file of posts is assumed.
func NoRemovals() []NamedFault {
	everything := func(fault Fault) func(*Site) func() {
		return func(s *Site) func() { return s.Fail("", fault) }
	}
	oneFile := func(fault func(s *Site) Fault) func(*Site) func() {
		return func(s *Site) func() { return s.Fail(s.somePosts(), fault(s)) }
	}
	file := func(fault Fault) func(*Site) func() { return oneFile(func(*Site) Fault { return fault }) }
	index := func(fault func(s *Site) Fault) func(*Site) func() {
		return func(s *Site) func() { return s.Fail(s.relative(s.Index()), fault(s)) }
	}
	return []NamedFault{
		{"everything 404", everything(Status(http.StatusNotFound))},
		{"everything 410", everything(Status(http.StatusGone))},
		{"everything 401", everything(Status(http.StatusUnauthorized))},
		{"everything 403", everything(Status(http.StatusForbidden))},
		{"everything 429", everything(Busy(http.StatusTooManyRequests, "3600"))},
		{"everything 500", everything(Status(http.StatusInternalServerError))},
		{"maintenance", everything(Busy(http.StatusServiceUnavailable, "600"))},
		{"everything empty", everything(Empty())},
		{"everything HTML", everything(HTML())},
		{"login", everything(Redirect("/wp-login.php"))},
		{"redirect loop", everything(Loop())},
		{"parked domain", everything(Parked())},
		{"challenge", everything(Challenge())},
		{"304 unasked", everything(NotModified())},
		{"empty index", index(func(*Site) Fault { return EmptyIndex() })},
		{"index without a file", index(func(s *Site) Fault { return Without(s.somePosts()) })},
		{"half of the index", index(func(*Site) Fault { return HalfGone() })},
		{"other site's index", index(func(s *Site) Fault { return s.ForeignHost("https://other.example") })},
		{"file 404", file(Status(http.StatusNotFound))},
		{"file empty", file(Empty())},
		{"file HTML", file(HTML())},
		{"file cut by length", file(ShortLength(0.5))},
		{"file cut after its root", file(AbortChunk(1))},
		{"file cut cleanly", file(CutCleanly(0.5))},
		{"file truncated gzip", file(TruncatedGzip())},
		{"file in a wrong namespace", file(WrongNamespace())},
		{"file of another site", oneFile(func(s *Site) Fault { return s.ForeignHost("https://other.example") })},
		{"file empty urlset", file(EmptyURLSet())},
		{"file half gone", file(HalfGone())},
	}
}

// somePosts is the path of the second file of posts, or the first.
func (s *Site) somePosts() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.filePath(kindPost, min(2, max(1, s.files(kindPost))))
}

func (s *Site) relative(url string) string { return url[len(s.URL()):] }
