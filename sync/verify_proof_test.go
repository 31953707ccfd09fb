package syncer_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// failingWeb gives the faults that a site on this machine cannot have: of names and certificates.
type failingWeb struct {
	*fetch.Client
	outcomes map[string]fetch.Outcome // by URL
}

func (w *failingWeb) Read(ctx context.Context, req fetch.Request, consume func(*fetch.Result) error) (*fetch.Result, error) {
	if o, ok := w.outcomes[req.URL]; ok {
		return &fetch.Result{URL: req.URL, Outcome: o}, nil
	}
	return w.Client.Read(ctx, req, consume)
}

// hurried wires a verifier whose patience is short.
func (l *pagesLab) hurried(outcomes map[string]fetch.Outcome) {
	l.Helper()
	client := fetch.New(fetch.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Backoff: time.Millisecond,
		MaxRetryAfter: time.Millisecond, PageDelay: -1, HeaderTimeout: time.Second, PageTimeout: 2 * time.Second, Retries: -1})
	l.Cleanup(client.Close)
	v, err := syncer.NewVerifier(syncer.VerifierOptions{Engine: l.engine, Store: l.store, Web: &failingWeb{client, outcomes}, Now: l.clock.now, Delay: -1, Rest: time.Millisecond})
	if err != nil {
		l.Fatal(err)
	}
	l.verifier = v
}

// reset cuts the connection before anything was answered.
func reset(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// answering gives a status with a field and the body of a page that declares nothing.
func answering(status int, name, value string) sitetest.Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		if name != "" {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><head><title>Sorry</title></head><body><p>Sorry</p></body></html>")
	}
}

const wall = `<!DOCTYPE html><html><head><title>Just a moment...</title></head><body><script src="/cdn-cgi/challenge-platform/h/b/orchestrate"></script></body></html>`

// proofless are answers that say nothing of what a page declares, with the reading that each must get.
var proofless = []struct {
	name    string
	fault   sitetest.Fault
	outcome fetch.Outcome // instead of an answer
	reading canonical.Reading
}{
	{"no answer in time", sitetest.Hang(), "", canonical.ReadingUnreachable},
	{"a body that hangs within the head", dripping(40, time.Hour), "", canonical.ReadingTruncated},
	{"a slow drip", dripping(40, 100*time.Millisecond), "", canonical.ReadingTruncated},
	{"a connection cut before the answer", reset, "", canonical.ReadingUnreachable},
	{"a connection cut within the head", sitetest.AbortChunk(0.02), "", canonical.ReadingTruncated},
	{"fewer bytes than declared", sitetest.ShortLength(0.02), "", canonical.ReadingTruncated},
	{"an end within the head", sitetest.CutHead(), "", canonical.ReadingTruncated},
	{"an empty body", sitetest.Body("text/html; charset=UTF-8", ""), "", canonical.ReadingEmpty},
	{"a body of white space", sitetest.Body("text/html; charset=UTF-8", "\n \n"), "", canonical.ReadingEmpty},
	{"a certificate that is not valid", nil, fetch.TLS, canonical.ReadingUnreachable},
	{"a name that does not resolve", nil, fetch.DNS, canonical.ReadingUnreachable},
	{"nobody listens", nil, fetch.Refused, canonical.ReadingUnreachable},
	{"a private address", nil, fetch.BlockedAddress, canonical.ReadingUnverified},
	{"500", answering(500, "", ""), "", canonical.ReadingTempFail},
	{"502", answering(502, "", ""), "", canonical.ReadingTempFail},
	{"503", answering(503, "", ""), "", canonical.ReadingTempFail},
	{"504", answering(504, "", ""), "", canonical.ReadingTempFail},
	{"408", answering(408, "", ""), "", canonical.ReadingTempFail},
	{"429", answering(429, "", ""), "", canonical.ReadingTempFail},
	{"maintenance", answering(503, "Retry-After", "600"), "", canonical.ReadingMaintenance},
	{"401", answering(401, "", ""), "", canonical.ReadingDenied},
	{"403", answering(403, "", ""), "", canonical.ReadingDenied},
	{"451", answering(451, "", ""), "", canonical.ReadingDenied},
	{"418", answering(418, "", ""), "", canonical.ReadingError},
	{"a challenge at 403", sitetest.Challenge(), "", canonical.ReadingChallenge},
	{"a challenge at 200", sitetest.Body("text/html", wall), "", canonical.ReadingChallenge},
	{"a challenge that its header names", answering(200, "Cf-Mitigated", "challenge"), "", canonical.ReadingChallenge},
	{"a login page", sitetest.Body("text/html", `<html><head><title>Log in</title></head><body><form name="loginform" id="loginform" action="/wp-login.php"></form></body></html>`), "", canonical.ReadingChallenge},
	{"a coding that nobody asked for", sitetest.Body("text/html", "\x28\xb5\x2f\xfd\x04\x00"+strings.Repeat("\x91\x02\x07", 300)), "", canonical.ReadingUndecodable},
	{"JSON instead of the page", sitetest.Body("application/json", `{"code":"rest_forbidden"}`), "", canonical.ReadingNonHTML},
	{"an image instead of the page", sitetest.Body("image/gif", "GIF89a"), "", canonical.ReadingNonHTML},
}

// dripping sends a page's first bytes one by one.
func dripping(n int, pause time.Duration) sitetest.Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		for _, c := range "<!DOCTYPE html><html><head><title>A page that takes its time"[:n] {
			_, _ = fmt.Fprintf(w, "%c", c)
			_ = http.NewResponseController(w).Flush()
			timer := time.NewTimer(pause)
			select {
			case <-timer.C:
			case <-r.Context().Done():
				timer.Stop()
				return
			}
		}
		<-r.Context().Done()
	}
}

// Whatever comes instead of a page, and however often: no relationship is closed, the look is told for what it was, and
// once the page answers again it is as if nothing had been. Absence of a declaration in such answers is no absence.
func TestVerify_WhatProvesNothingSupersedesNothing(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, len(proofless)+2)
	l.verify()
	before := l.lines(models.CanonicalFilter{})
	outcomes := map[string]fetch.Outcome{}
	var undo []func()
	for i, p := range proofless {
		if p.outcome != "" {
			outcomes[l.posts[i]] = p.outcome
		} else {
			undo = append(undo, l.origin.Fail(sitetest.Path(l.posts[i]), p.fault))
		}
	}
	l.hurried(outcomes)
	for look := 1; look <= 3; look++ {
		l.verify(l.posts[:len(proofless)]...)
		l.clock.advance(30 * time.Hour) // long enough for every second look
		for i, p := range proofless {
			of := l.lines(models.CanonicalFilter{Source: l.posts[i]})[l.posts[i]]
			if len(of) != 1 || brief(&of[0]) != validSelf || of[0].Reading != string(p.reading) {
				t.Errorf("%s, look %d: %d lines, %s, reading %s; want %s and %s", p.name, look, len(of), brief(&of[0]), of[0].Reading, validSelf, p.reading)
				continue
			}
			if !of[0].ValidFrom.Equal(*before[l.posts[i]][0].ValidFrom) || !of[0].ObservedAt.Equal(*before[l.posts[i]][0].ObservedAt) {
				t.Errorf("%s, look %d: valid from %s, observed %s: nothing was seen", p.name, look, of[0].ValidFrom, of[0].ObservedAt)
			}
			if found := l.findings(l.posts[i]); slices.Contains(found, "new "+canonical.FindingMissing) {
				t.Errorf("%s: %v", p.name, found)
			}
		}
	}
	for _, mend := range undo {
		mend()
	}
	clear(outcomes)
	l.verify()
	for i, p := range proofless {
		all, _, err := l.store.RelationshipHistory(t.Context(), l.site.ID, models.Key(canonical.KeyOf(l.posts[i])))
		if err != nil || len(all) != 1 || all[0].ValidUntil != nil || l.line(l.posts[i]) != validSelf {
			t.Errorf("%s, mended: %d relationships, %v, %s", p.name, len(all), err, l.line(l.posts[i]))
		}
	}
}

// What keeps pages from being looked at, or comes from a cache that lags, closes nothing either.
func TestVerify_KeepsWhatItMayNotSeeAnew(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 4)
	l.verify()
	kept := func(what string, reading canonical.Reading, urls ...string) {
		t.Helper()
		for _, url := range urls {
			of := l.lines(models.CanonicalFilter{Source: url})[url]
			if len(of) != 1 || brief(&of[0]) != validSelf || of[0].Reading != string(reading) {
				t.Errorf("%s: %s, reading %s, want %s", what, brief(&of[0]), of[0].Reading, reading)
			}
		}
	}
	// A cache gives an older copy, which declares another URL.
	older := l.origin.Fail(sitetest.Path(l.posts[0]), func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		w.Header().Set("Date", time.Now().UTC().Add(-72*time.Hour).Format(http.TimeFormat))
		sitetest.Canonical(l.posts[1])(w, r, honest)
	})
	l.verify(l.posts[0])
	kept("an older copy", canonical.ReadingRead, l.posts[0])
	older()

	// robots.txt forbids from now on, then cannot be read.
	forbids := l.origin.Fail("/robots.txt", sitetest.Body("text/plain", "User-agent: *\nDisallow: /\n"))
	l.verify()
	kept("robots.txt forbids", canonical.ReadingRobots, l.posts...)
	if found := l.findings(l.posts[0]); !slices.Contains(found, "new "+canonical.FindingSitemapBlocked) {
		t.Errorf("robots.txt forbids: %v", found)
	}
	forbids()
	fails := l.origin.Fail("/robots.txt", sitetest.Status(503))
	l.verify()
	kept("robots.txt fails", canonical.ReadingRobots, l.posts...)
	if found := l.findings(l.posts[0]); !slices.Contains(found, "new "+canonical.FindingSitemapServerError) {
		t.Errorf("robots.txt fails: %v", found)
	}
	fails()

	// The sitemap is unavailable: it is no evidence of what pages declare.
	undo := l.origin.Fail("/*", sitetest.Status(500))
	l.run(false)
	undo()
	l.verify()
	kept("the sitemap was unavailable", canonical.ReadingRead, l.posts...)
	for _, url := range l.posts {
		if all, _, err := l.store.RelationshipHistory(t.Context(), l.site.ID, models.Key(canonical.KeyOf(url))); err != nil || len(all) != 1 || all[0].ValidUntil != nil {
			t.Errorf("%s: %d relationships, %v", url, len(all), err)
		}
	}
}
