package sitetest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
)

const file = "/wp-sitemap-posts-post-1.xml"

// ask tells status, body and the error of reading the body.
func ask(t *testing.T, ctx context.Context, url string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}

func TestFaults_DoWhatTheySay(t *testing.T) {
	t.Parallel()
	s := start(t, sitetest.Options{Posts: 20, Categories: 2, Seed: 5})
	_, honest, _ := ask(t, t.Context(), s.URL()+file)
	gunzip := func(text string) (string, error) {
		z, err := gzip.NewReader(strings.NewReader(text))
		if err != nil {
			return "", err
		}
		plain, err := io.ReadAll(z)
		return string(plain), err
	}
	for _, c := range []struct {
		name  string
		fault sitetest.Fault
		check func(resp *http.Response, text string, err error) bool
	}{
		{"status", sitetest.Status(410), func(r *http.Response, text string, err error) bool {
			return r.StatusCode == 410 && strings.Contains(text, "<html")
		}},
		{"status with body", sitetest.StatusWithBody(404), func(r *http.Response, text string, err error) bool {
			return r.StatusCode == 404 && text == honest
		}},
		{"busy", sitetest.Busy(429, "7"), func(r *http.Response, text string, err error) bool {
			return r.StatusCode == 429 && r.Header.Get("Retry-After") == "7"
		}},
		{"empty", sitetest.Empty(), func(r *http.Response, text string, err error) bool {
			return r.StatusCode == 200 && text == "" && err == nil
		}},
		{"html", sitetest.HTML(), func(r *http.Response, text string, err error) bool {
			return r.StatusCode == 200 && strings.HasPrefix(text, "<!DOCTYPE html>")
		}},
		{"challenge", sitetest.Challenge(), func(r *http.Response, text string, err error) bool { return r.StatusCode == 403 }},
		{"short length", sitetest.ShortLength(0.5), func(r *http.Response, text string, err error) bool {
			return errors.Is(err, io.ErrUnexpectedEOF) && r.ContentLength == int64(len(honest)) && text == honest[:len(honest)/2]
		}},
		{"aborted chunk after the whole", sitetest.AbortChunk(1), func(r *http.Response, text string, err error) bool {
			return errors.Is(err, io.ErrUnexpectedEOF) && text == honest
		}},
		{"clean cut", sitetest.CutCleanly(0.5), func(r *http.Response, text string, err error) bool {
			return err == nil && text == honest[:len(honest)/2]
		}},
		{"truncated gzip", sitetest.TruncatedGzip(), func(r *http.Response, text string, err error) bool {
			_, inflate := gunzip(text)
			return err == nil && errors.Is(inflate, io.ErrUnexpectedEOF)
		}},
		{"bomb", sitetest.Bomb(8 << 20), func(r *http.Response, text string, err error) bool {
			plain, inflate := gunzip(text)
			return err == nil && inflate == nil && len(plain) > 8<<20 && len(text) < 32<<10
		}},
		{"slow", sitetest.Slow(time.Microsecond, 3, time.Microsecond), func(r *http.Response, text string, err error) bool {
			return err == nil && text == honest
		}},
		{"redirect", sitetest.Redirect("/wp-login.php"), func(r *http.Response, text string, err error) bool {
			return r.StatusCode == 302 && r.Header.Get("Location") == "/wp-login.php"
		}},
		{"loop", sitetest.Loop(), func(r *http.Response, text string, err error) bool {
			return r.StatusCode == 302 && r.Header.Get("Location") == file+"?again=1"
		}},
		{"not modified", sitetest.NotModified(), func(r *http.Response, text string, err error) bool { return r.StatusCode == 304 }},
		{"wrong namespace", sitetest.WrongNamespace(), func(r *http.Response, text string, err error) bool {
			return strings.Contains(text, "example.org/schemas") && !strings.Contains(text, "www.sitemaps.org")
		}},
		{"foreign host", s.ForeignHost("https://live.example"), func(r *http.Response, text string, err error) bool {
			return strings.Count(text, "<loc>https://live.example/") == 20
		}},
		{"empty urlset", sitetest.EmptyURLSet(), func(r *http.Response, text string, err error) bool {
			return len(parse(t, text).URLs) == 0
		}},
		{"half gone", sitetest.HalfGone(), func(r *http.Response, text string, err error) bool {
			return len(parse(t, text).URLs) == 10
		}},
		{"without one", sitetest.Without(s.PostURL(3)), func(r *http.Response, text string, err error) bool {
			return len(parse(t, text).URLs) == 19
		}},
	} {
		undo := s.Fail(file, c.fault)
		resp, text, err := ask(t, t.Context(), s.URL()+file)
		if resp == nil || !c.check(resp, text, err) {
			t.Errorf("%s: %+v, %v\n%.200q", c.name, resp, err, text)
		}
		undo()
	}
	if _, text, err := ask(t, t.Context(), s.URL()+file); err != nil || text != honest {
		t.Errorf("after all faults were undone: %v", err)
	}
}

func TestFaults_HangUntilTheClientGoes(t *testing.T) {
	t.Parallel()
	s := start(t, sitetest.Options{Posts: 2})
	for _, fault := range []sitetest.Fault{sitetest.Hang(), sitetest.HangInBody()} {
		undo := s.Fail("", fault)
		ctx, cancel := context.WithCancel(t.Context())
		s.ResetLog()
		answered := make(chan error, 1)
		go func() {
			_, _, err := ask(t, ctx, s.Index())
			answered <- err
		}()
		for s.Count("") == 0 {
			select {
			case err := <-answered:
				t.Fatalf("a hanging site answered: %v", err)
			default:
			}
		}
		cancel()
		if err := <-answered; !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v", err)
		}
		undo()
	}
}

func TestFaults_PatternTimesAndOrder(t *testing.T) {
	t.Parallel()
	s := start(t, sitetest.Options{Posts: 2, Permalinks: sitetest.Plain})
	status := func(url string) int {
		resp, _ := get(t, url)
		return resp.StatusCode
	}
	s.Fail("/?sitemap=index", sitetest.Status(500))
	if got := []int{status(s.Index()), status(s.Documents()[1])}; got[0] != 500 || got[1] != 200 {
		t.Errorf("a query pattern gave %v", got)
	}
	s.Heal()
	s.Fail("/*", sitetest.Status(503))
	s.FailTimes("", 1, sitetest.Status(429))
	if a, b := status(s.Index()), status(s.Index()); a != 429 || b != 503 {
		t.Errorf("statuses = %d, %d", a, b)
	}
	s.Heal()
	if got := status(s.Index()); got != 200 {
		t.Errorf("after Heal: %d", got)
	}
}

func TestFaults_StaleCopyAges(t *testing.T) {
	t.Parallel()
	now := noon
	s := start(t, sitetest.Options{Posts: 3, Now: func() time.Time { return now }})
	s.Fail(file, s.Stale(file))
	_, before := get(t, s.URL()+file)
	now = now.Add(90 * time.Second)
	s.Publish(sitetest.Spec{})
	resp, after := get(t, s.URL()+file)
	if before != after || resp.Header.Get("Age") != "90" {
		t.Errorf("Age = %q, same body = %v", resp.Header.Get("Age"), before == after)
	}
}

func TestOnRequest_MakesATornRead(t *testing.T) {
	t.Parallel()
	s := start(t, sitetest.Options{Posts: 9, PerFile: 3})
	lost := s.PostURL(4)
	s.OnRequest(func(_ int, r *http.Request) {
		if r.URL.Path == "/wp-sitemap-posts-post-2.xml" {
			s.Trash(2)
		}
	})
	urls, _ := walk(t, s)
	if _, seen := urls[lost]; seen {
		t.Error("the walk saw the URL that moved between two reads")
	}
	if _, listed := s.Inventory()[lost]; !listed {
		t.Error("the URL is not published any more")
	}
}

func TestConditionalAndGzip_BodiesAndValidators(t *testing.T) {
	t.Parallel()
	s := start(t, sitetest.Options{Posts: 50, Gzip: true, Conditional: true})
	kept := s.Warm()
	plainResp, plain := get(t, s.URL()+file)
	resp, gz := get(t, s.URL()+file, "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(bytes.NewReader([]byte(gz)))
	if err != nil {
		t.Fatal(err)
	}
	inflated, err := io.ReadAll(z)
	if err != nil || string(inflated) != plain || resp.Header.Get("Content-Length") != strconv.Itoa(len(gz)) {
		t.Errorf("gzip and plain differ, or length %q", resp.Header.Get("Content-Length"))
	}
	if kept == 0 || plainResp.Header.Get("ETag") != resp.Header.Get("ETag") {
		t.Errorf("kept %d, ETags %q and %q", kept, plainResp.Header.Get("ETag"), resp.Header.Get("ETag"))
	}
	tag := resp.Header.Get("ETag")
	if again, _ := get(t, s.URL()+file, "If-None-Match", tag); again.StatusCode != http.StatusNotModified {
		t.Errorf("unchanged: %s", again.Status)
	}
	s.Edit(1)
	if again, _ := get(t, s.URL()+file, "If-None-Match", tag); again.StatusCode != http.StatusOK {
		t.Errorf("changed: %s", again.Status)
	}
	s.Fail("", sitetest.EmptyWhenConditional())
	if again, text := get(t, s.URL()+file, "If-None-Match", tag); again.StatusCode != http.StatusOK || text != "" {
		t.Errorf("conditional: %s, %d bytes", again.Status, len(text))
	}
	if _, text := get(t, s.URL()+file); text == "" {
		t.Error("an unconditional request was answered empty")
	}
}

func TestLog_CountsRequests(t *testing.T) {
	t.Parallel()
	s := start(t, sitetest.Options{Posts: 3, Username: "editor", Password: "secret"})
	if resp, _ := get(t, s.Index()); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without password: %s", resp.Status)
	}
	_, text := get(t, s.Index(), "Authorization", "Basic ZWRpdG9yOnNlY3JldA==")
	lines := s.Requests()
	if s.Count("/wp-sitemap.xml") != 2 || s.Count("") != 2 || s.MostAtOnce() != 1 || len(lines) != 2 ||
		lines[0].Status != 401 || lines[1].Status != 200 || lines[1].Bytes != int64(len(text)) {
		t.Errorf("log = %+v", lines)
	}
	s.ResetLog()
	if s.Count("") != 0 {
		t.Error("the log was not emptied")
	}
}

func TestPublisher_RunsOnItsTick(t *testing.T) {
	t.Parallel()
	s := start(t, sitetest.Options{Posts: 5})
	tick := make(chan time.Time)
	events := make(chan sitetest.Event)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		(&sitetest.Publisher{Site: s, Tick: tick, OnEvent: func(e sitetest.Event) { events <- e }}).Run(ctx)
	}()
	for range 5 {
		tick <- noon
		if e := <-events; e.Type == "" || e.URL == "" {
			t.Errorf("event = %+v", e)
		}
	}
	cancel()
	<-done
}

func TestNoRemovals_EachHidesPublishedPages(t *testing.T) {
	t.Parallel()
	for _, layout := range []sitetest.Layout{sitetest.Core, sitetest.Yoast, sitetest.RankMath} {
		s := start(t, small(layout, sitetest.PostName))
		read := func() (answers string) {
			for _, url := range s.Documents() {
				resp, text, err := ask(t, t.Context(), url)
				if resp == nil {
					t.Fatal(err)
				}
				answers += resp.Status + text + strconv.FormatBool(err == nil)
			}
			return answers
		}
		honest := read()
		for _, f := range sitetest.NoRemovals() {
			before := s.Inventory()
			undo := f.Lay(s)
			if read() == honest {
				t.Errorf("layout %d: %q changes nothing", layout, f.Name)
			}
			undo()
			if len(before) != len(s.Inventory()) {
				t.Errorf("%q unpublished something", f.Name)
			}
		}
		if read() != honest {
			t.Errorf("layout %d: a fault stayed", layout)
		}
	}
}
