package syncer

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// noticed bounds the findings of one code that a run makes about its documents.
const noticed = 20

// notice tells what the documents show beside each other. It looks at versions alone: what it costs follows the number of
// documents.
func (r *run) notice(ctx context.Context) {
	documents := sortedByNumber(r.documents)
	r.noticeIdentical(documents)
	r.noticeRenamed(documents)
	r.noticeGenerator()
	r.noticePrivate(ctx)
}

func (r *run) noteRule(code, url, text string) {
	rule, _ := sitemap.SiteRuleOf(code)
	r.note(code, string(rule.Severity), url, text)
}

// says reports whether a version stands for entries, so that an equal one says the same.
func says(v *models.DocumentVersion) bool {
	return v.Entries > 0 && len(v.SemanticHash) > 0 && v.Verdict != models.VerdictGone && v.Type != typeIndex
}

func (r *run) noticeIdentical(documents []*document) {
	first := map[string]*document{}
	left := noticed
	for _, d := range documents {
		if d.alias || !says(&d.DocumentVersion) {
			continue
		}
		hash := string(d.SemanticHash)
		if one := first[hash]; one == nil {
			first[hash] = d
		} else if left--; left >= 0 {
			r.noteRule(sitemap.DocumentsIdentical, d.URL, "lists the same entries as "+one.URL)
		}
	}
}

// noticeRenamed matches documents that this run dropped with those that it met for the first time.
func (r *run) noticeRenamed(documents []*document) {
	dropped := map[string]*document{}
	for _, d := range documents {
		if d.previous != nil && says(d.previous) && d.Verdict == models.VerdictGone {
			dropped[string(d.previous.SemanticHash)] = d
		}
	}
	left := noticed
	for _, d := range documents {
		if d.known || !says(&d.DocumentVersion) {
			continue
		}
		hash := string(d.SemanticHash)
		if old := dropped[hash]; old != nil && left > 0 {
			left--
			delete(dropped, hash)
			r.noteRule(sitemap.FileRenamed, d.URL, "lists what "+old.URL+" listed, which is no longer listed itself")
		}
	}
}

// noticeGenerator tells of the first document that another program writes now; its version alone may change.
func (r *run) noticeGenerator() {
	for _, d := range r.order {
		if d.previous == nil || d.failed {
			continue
		}
		before, _, _ := strings.Cut(d.previous.Generator, " ")
		now, _, _ := strings.Cut(d.Generator, " ")
		if wrote(before) && wrote(now) && before != now {
			r.noteRule(sitemap.GeneratorChanged, d.URL, "was written by "+d.previous.Generator+", is written by "+d.Generator)
			return
		}
	}
}

// noticePrivate recognises a WordPress site that discourages search engines: its rewrite rules stay and answer 404, and the
// robots.txt that it makes loses the Sitemap line. Only a root that is not found costs the question for robots.txt.
func (r *run) noticePrivate(ctx context.Context) {
	for _, d := range r.order {
		if d.Depth > 0 || !d.failed || d.Status != http.StatusNotFound && d.Status != http.StatusGone || !r.isWordPress(d) {
			continue
		}
		at, err := url.Parse(d.URL)
		if err != nil {
			continue
		}
		robots := (&url.URL{Scheme: at.Scheme, Host: at.Host, Path: "/robots.txt"}).String()
		rules, answer := r.o.Web.ReadRobots(ctx, fetch.Request{URL: robots, Origin: r.site.Root, Kind: fetch.Robots,
			Username: r.site.Settings.Username, Password: r.site.Settings.Password})
		r.record.Requests += int64(answer.Attempts)
		if answer.Outcome == fetch.OK && answer.Status == http.StatusOK && len(rules.Sitemaps()) == 0 {
			r.noteRule(sitemap.BlogNotPublic, d.URL, "is not found, and "+robots+" names no sitemap: search engines may be discouraged in the settings")
			return
		}
	}
}

// isWordPress tells by the address of WordPress' own sitemap or by what wrote the documents before: all generators that the
// reader knows are WordPress and its plugins.
func (r *run) isWordPress(d *document) bool {
	return strings.Contains(d.URL, "/wp-sitemap") || strings.Contains(d.URL, "?sitemap=") || d.previous != nil && wrote(d.previous.Generator)
}

func wrote(generator string) bool { return generator != "" && generator != "unknown" }
