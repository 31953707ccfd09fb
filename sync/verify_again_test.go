package syncer_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// askedFor lists the posts in the order in which they were asked for.
func (l *pagesLab) askedFor() (order []string) {
	l.Helper()
	for _, r := range l.origin.Requests() {
		for _, p := range l.posts {
			if r.Path == sitetest.Path(p) {
				order = append(order, p)
			}
		}
	}
	return order
}

// A page that does not answer is tried once more after all others, which it keeps waiting for one attempt alone. What it
// says then is put on record; a fault that has passed leaves no trace.
func TestVerify_TriesAgainAfterAllOthers(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sitetest.Fault{"no answer": sitetest.Hang(), "a server error": sitetest.Status(502), "cut short": sitetest.AbortChunk(0.02)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newPagesLab(t, 4)
			lasting, passing := l.posts[0], l.posts[1]
			l.origin.Fail(sitetest.Path(lasting), fault)
			l.origin.FailTimes(sitetest.Path(passing), 1, fault)
			l.origin.ResetLog()
			result := l.verify(l.posts...)
			want := slices.Concat(l.posts, []string{lasting, passing})
			if got := l.askedFor(); !slices.Equal(got, want) {
				t.Errorf("asked for %v, want %v", got, want)
			}
			if len(result.Keys) != len(l.posts) || result.Looked != len(l.posts) || result.Unread != 1 {
				t.Errorf("%d pages, %d looks, %d unread", len(result.Keys), result.Looked, result.Unread)
			}
			if got := l.line(passing); got != validSelf || len(l.findings(passing)) > 0 {
				t.Errorf("passing: %s, %v", got, l.findings(passing))
			}
			if code := map[bool]string{true: canonical.FindingTruncated, false: canonical.FindingSitemapServerError}[name == "cut short"]; !l.open(lasting, code) {
				t.Errorf("lasting: %v", l.findings(lasting))
			}
		})
	}
}

// The daemon tries a page again after a minute before it says that it fails, and goes on with others meanwhile.
func TestSlice_TriesAgainAfterAMinute(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 4)
	l.verify()
	page := l.posts[0]
	l.clock.advance(3 * 24 * time.Hour) // all are due
	l.origin.Fail(sitetest.Path(page), sitetest.Status(502))
	slice := func() {
		t.Helper()
		for more := true; more; {
			var err error
			if _, more, err = l.verifier.Slice(t.Context(), l.site.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.origin.ResetLog()
	slice()
	if n := l.origin.Count(sitetest.Path(page)); n != 1 || l.open(page, canonical.FindingSitemapServerError) {
		t.Errorf("asked %d times, findings %v", n, l.findings(page))
	}
	for _, p := range l.posts[1:] {
		if l.origin.Count(sitetest.Path(p)) != 1 {
			t.Errorf("%s was not looked at", p)
		}
	}
	l.clock.advance(2 * time.Minute)
	slice()
	if n := l.origin.Count(sitetest.Path(page)); n != 2 || !l.open(page, canonical.FindingSitemapServerError) {
		t.Errorf("asked %d times, findings %v", n, l.findings(page))
	}
}
