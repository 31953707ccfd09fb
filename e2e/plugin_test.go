package e2e_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tests of this package share one WordPress, so none of them runs in parallel with another.

// withPlugin activates the companion plugin and points it to a new receiver.
func withPlugin(t *testing.T) (site, *receiver) {
	t.Helper()
	s := openSite(t)
	r := newReceiver(t)
	s.set(t, "plugin", "on")
	s.set(t, "configure", r.server.URL+"/hooks/test", secret)
	s.set(t, "outbox-clear")
	r.take()
	return s, r
}

// said puts events into lines "type url [<- previous url]".
func said(deliveries []delivery) []string {
	lines := []string{}
	for _, e := range events(deliveries) {
		line := e.Type + " " + e.Data.URL
		if e.Data.PreviousURL != "" {
			line += " <- " + e.Data.PreviousURL
		}
		lines = append(lines, line)
	}
	return lines
}

// expect fails unless exactly these lines were said, in one delivery when there are any.
func expect(t *testing.T, r *receiver, what string, want ...string) []delivery {
	t.Helper()
	got := r.take()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, said(got)); diff != "" {
		t.Errorf("%s: wrong events (-want +got):\n%s", what, diff)
	}
	if len(want) > 0 && len(got) != 1 {
		t.Errorf("%s: %d deliveries, want 1", what, len(got))
	}
	return got
}

func id(p post) string { return strconv.Itoa(p.ID) }

func TestPlugin_SaysExactlyWhatChangedOfAPost(t *testing.T) {
	s, r := withPlugin(t)

	p := s.act(t, "publish", "Plugin post")
	expect(t, r, "publish", "post.published "+p.URL)
	s.act(t, "edit", id(p))
	expect(t, r, "edit", "post.updated "+p.URL)
	moved := s.act(t, "slug", id(p), "plugin-post-moved")
	expect(t, r, "slug", "post.updated "+moved.URL+" <- "+p.URL)
	s.act(t, "unpublish", id(p))
	expect(t, r, "unpublish", "post.unpublished "+moved.URL)
	s.act(t, "edit", id(p))
	expect(t, r, "edit of a draft")
	s.act(t, "publish-draft", id(p))
	expect(t, r, "publish again", "post.published "+moved.URL)
	s.act(t, "status", id(p), "private")
	expect(t, r, "make private", "post.unpublished "+moved.URL)
	s.act(t, "publish-draft", id(p))
	expect(t, r, "private to public", "post.published "+moved.URL)
	s.act(t, "trash", id(p))
	expect(t, r, "trash", "post.unpublished "+moved.URL)
	s.act(t, "untrash", id(p))
	expect(t, r, "untrash gives a draft")
	s.act(t, "publish-draft", id(p))
	expect(t, r, "publish after trash", "post.published "+moved.URL)
	s.act(t, "delete", id(p))
	expect(t, r, "delete", "post.deleted "+moved.URL)

	draft := s.act(t, "draft")
	expect(t, r, "new draft")
	s.act(t, "delete", id(draft))
	expect(t, r, "delete a draft")

	scheduled := s.act(t, "schedule", "3600")
	expect(t, r, "schedule")
	scheduled = s.act(t, "time-comes", id(scheduled))
	got := expect(t, r, "scheduled time comes", "post.published "+scheduled.URL)
	if e := events(got)[0]; e.Data.PostID != scheduled.ID || e.Data.PostType != "post" || e.Data.Status != "publish" {
		t.Errorf("event does not say which post: %+v", e.Data)
	}
	s.act(t, "delete", id(scheduled))
}

func TestPlugin_NamesPagesThatMovedWithTheirParent(t *testing.T) {
	s, r := withPlugin(t)
	parent := s.act(t, "publish", "Parent page", "page")
	child := s.act(t, "publish", "Child page", "page")
	child = s.act(t, "parent", id(child), id(parent))
	grandchild := s.act(t, "publish", "Grandchild page", "page")
	grandchild = s.act(t, "parent", id(grandchild), id(child))
	r.take()

	moved := s.act(t, "slug", id(parent), "parent-moved")
	movedChild, movedGrandchild := s.act(t, "post", id(child)), s.act(t, "post", id(grandchild))
	expect(t, r, "parent's slug",
		"post.updated "+moved.URL+" <- "+parent.URL,
		"post.updated "+movedChild.URL+" <- "+child.URL,
		"post.updated "+movedGrandchild.URL+" <- "+grandchild.URL)
	for _, p := range []post{grandchild, child, parent} {
		s.act(t, "delete", id(p))
	}
}

func TestPlugin_SaysWhatChangedOfTermsAuthorsAndTheSite(t *testing.T) {
	s, r := withPlugin(t)

	s.act(t, "term-create", "Empty term")
	expect(t, r, "an empty term is on no sitemap")
	p := s.act(t, "publish", "Post with a new category", "post", "", "Fresh category")
	fresh := s.url + "category/fresh-category/"
	expect(t, r, "publish with a new category", "term.created "+fresh, "post.published "+p.URL)
	s.act(t, "term-slug", "fresh-category", "fresher")
	expect(t, r, "term's slug", "term.updated "+s.url+"category/fresher/ <- "+fresh)
	s.act(t, "term-slug", "empty-term", "still-empty")
	expect(t, r, "empty term's slug")
	s.act(t, "term-delete", "fresher")
	expect(t, r, "delete the term", "term.deleted "+s.url+"category/fresher/")
	s.act(t, "delete", id(p))
	r.take()

	s.act(t, "author-slug", "ada", "countess")
	expect(t, r, "author's slug", "site.author_updated "+s.url+"author/countess/ <- "+s.url+"author/ada/")
	s.act(t, "author-slug", "ada", "ada")
	r.take()

	s.set(t, "timezone", "America/New_York")
	expect(t, r, "time zone", "site.timezone_changed "+s.url)
	s.set(t, "timezone", "America/New_York")
	expect(t, r, "same time zone again")
	s.set(t, "timezone", "Europe/Berlin")
	r.take()
	s.set(t, "permalink", "/%year%/%postname%/")
	expect(t, r, "permalinks", "site.permalinks_changed "+s.url)
	s.set(t, "permalink", "/%postname%/")
	r.take()
}

func TestPlugin_PacksManyChangesOfOneRequest(t *testing.T) {
	s, r := withPlugin(t)

	s.set(t, "edit-many", "30")
	got := r.take()
	if len(got) != 1 || len(events(got)) != 30 {
		t.Errorf("bulk edit of 30: %d deliveries with %d events, want 1 with 30", len(got), len(events(got)))
	}
	s.set(t, "edit-many", "120")
	got = r.take()
	if len(got) != 3 || len(events(got)) != 120 {
		t.Errorf("bulk edit of 120: %d deliveries with %d events, want 3 with 120", len(got), len(events(got)))
	}
	unique := map[string]bool{}
	for _, e := range events(got) {
		unique[e.Data.URL] = true
	}
	if len(unique) != 120 {
		t.Errorf("bulk edit of 120 named %d pages", len(unique))
	}
	// An import names nothing any more: the daemon looks at the whole site.
	s.set(t, "publish-many", "250")
	got = expect(t, r, "import of 250", "site.bulk_changed "+s.url)
	if count := events(got)[0].Data.Count; count != 250 {
		t.Errorf("import of 250 counted %d", count)
	}
}

func TestPlugin_NumbersEventsWithoutGaps(t *testing.T) {
	s, r := withPlugin(t)
	p := s.act(t, "publish", "Numbered")
	s.set(t, "edit-many", "3")
	s.act(t, "delete", id(p))

	got := events(r.take())
	if len(got) != 5 {
		t.Fatalf("%d events, want 5", len(got))
	}
	for i, e := range got {
		if want := got[0].Data.Seq + i; e.Data.Seq != want {
			t.Errorf("event %d has number %d, want %d", i, e.Data.Seq, want)
		}
	}
}

func TestPlugin_SaysNothingWithoutSettings(t *testing.T) {
	s, r := withPlugin(t)
	s.set(t, "configure", "", "")
	p := s.act(t, "publish", "Nobody is told")
	expect(t, r, "publish without settings")
	s.act(t, "delete", id(p))
	var box outbox
	s.do(t, &box, "outbox")
	if len(box.Rows) != 0 {
		t.Errorf("%d rows in the outbox, want none: %v", len(box.Rows), fmt.Sprint(box.Rows))
	}
}
