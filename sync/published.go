package syncer

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// publishedStorage is what reading a plugin's inventory needs of the database.
type publishedStorage interface {
	// HookKeys gives the secrets of a site, newest first.
	HookKeys(ctx context.Context, site int64) ([]models.HookKey, error)
	// PluginInventory gives the last reading that readers see; answered: the last that was complete.
	PluginInventory(ctx context.Context, site int64, answered bool) (models.PluginInventory, error)
	SavePluginInventory(ctx context.Context, lease models.Lease, p models.PluginInventory) error
	// PublishedPosts gives open versions behind a number, staged ones included, by number.
	PublishedPosts(ctx context.Context, site, after int64, limit int) ([]models.PublishedPost, error)
	// PublishedAt gives the versions with one of these addresses, and the open version of their posts.
	PublishedAt(ctx context.Context, site int64, keys []models.Key) ([]models.PublishedPost, error)
	// StagePublished closes open versions of posts and adds new ones.
	StagePublished(ctx context.Context, lease models.Lease, site, run int64, add []models.PublishedPost) error
}

// How often a site is asked, and how much of it at a time.
const (
	publishedLimit    = 1000           // posts of one answer
	publishedLeast    = 50             // the least that is asked for of a site that answers too much or too late
	publishedCheap    = 10_000         // posts up to which every full run reads the list; a longer one is read once a day
	publishedDay      = 24 * time.Hour // after which a long list, or a site without one, is asked again
	publishedPause    = time.Hour      // after which a site that refused or did not answer is asked again
	publishedMost     = 20_000         // answers of one reading
	publishedMaxBytes = 16 << 20       // of one answer, inflated
	publishedKeys     = 3              // secrets tried
)

// pluginReading is what this run knows of the plugin's inventory.
type pluginReading struct {
	models.PluginInventory
	secret string
	fresh  bool // read in this run
	answer bool // something of it may be asked: the site answered last time
	limit  int  // posts asked for at a time, fewer once the site answered too much or too late
}

// proves tells whether what this run's reading does not list is gone.
func (p *pluginReading) proves() bool { return p.fresh && p.Complete() && p.Steady }

// readPlugin reads the inventory of the site's companion plugin before the documents are walked, so that what it lists was
// published before the walk looked for it. A site is asked when it has a hook secret, which the plugin needs as well, and
// answers where its owner switched the list on. Whatever the site does wrong is in the reading; an error is ours.
func (r *run) readPlugin(ctx context.Context) error {
	if a := r.site.Agenda; r.target != nil || r.site.Home == "" || a.Known && !a.Keys {
		return nil
	}
	keys, err := r.o.Store.HookKeys(ctx, r.site.ID)
	if err != nil {
		return fmt.Errorf("read hook secrets: %w", err)
	}
	if len(keys) == 0 {
		return nil
	}
	last, err := r.o.Store.PluginInventory(ctx, r.site.ID, false)
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		return err
	}
	r.plugin.PluginInventory, r.plugin.secret = last, keys[0].Secret
	r.plugin.answer = last.Complete() || last.Outcome == models.PublishedPartial
	if !r.asksPlugin(&last) {
		return nil
	}
	r.step("plugin inventory", "")
	p := models.PluginInventory{SiteID: r.site.ID, Run: r.record.ID, ReadAt: micros(r.o.Now()), Endpoint: last.Endpoint}
	r.plugin = pluginReading{PluginInventory: p, secret: keys[0].Secret, fresh: true, limit: publishedLimit}
	first := r.findPlugin(ctx, keys[:min(len(keys), publishedKeys)])
	if first != nil {
		if err := r.readPosts(ctx, first); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.plugin.answer = r.plugin.Complete()
	r.record.Requests += r.plugin.Requests
	r.log.Info("plugin inventory read", "outcome", r.plugin.Outcome, "reason", r.plugin.Reason, "posts", r.plugin.Posts, "steady", r.plugin.Steady, "requests", r.plugin.Requests)
	return r.o.Store.SavePluginInventory(ctx, r.lease, r.plugin.PluginInventory)
}

// asksPlugin tells whether the list is to be read in this run. A person who asks for a run gets the list with it.
func (r *run) asksPlugin(last *models.PluginInventory) bool {
	age := r.o.Now().Sub(last.ReadAt)
	switch {
	case last.Outcome == "" || r.record.Cause == models.CauseManual || age < 0:
		return true
	case last.Outcome == models.PublishedAbsent:
		return age >= publishedDay
	case last.Complete():
		return last.Posts <= publishedCheap || age >= publishedDay
	}
	return age >= publishedPause
}

// findPlugin makes the first request, in the form that answered before or in both, with each secret until one is taken. It
// gives the first page, nil when there is none: the outcome says why.
func (r *run) findPlugin(ctx context.Context, keys []models.HookKey) *publishedPage {
	p := &r.plugin
	home := strings.TrimRight(r.site.Home, "/") + "/"
	forms := []string{home + prettyForm, home + plainForm}
	if p.Endpoint != "" {
		forms = append([]string{p.Endpoint}, slices.DeleteFunc(forms, func(f string) bool { return f == p.Endpoint })...)
	}
	p.Outcome, p.Reason, p.Endpoint = "", "", ""
	for _, form := range forms {
		for _, key := range keys {
			p.secret = key.Secret
			page, a := r.askPatiently(ctx, form, 0)
			switch {
			case page != nil:
				p.Endpoint, p.Outcome, p.Reason = a.endpoint, models.PublishedPartial, ""
				return page
			case ctx.Err() != nil:
				return nil
			}
			// The most telling answer stands: a refusal says that the list is there, an absence is what most sites say.
			if p.Outcome == "" || p.Outcome == models.PublishedAbsent {
				p.Outcome, p.Reason, p.Endpoint = a.outcome, a.reason, a.endpoint
			}
			if a.outcome != models.PublishedRefused {
				break // another secret makes no difference
			}
		}
		if p.Outcome != models.PublishedAbsent {
			return nil
		}
	}
	p.Endpoint = ""
	return nil
}

// askPatiently asks for the posts behind a number, for fewer of them where the site does not manage so many.
func (r *run) askPatiently(ctx context.Context, endpoint string, after int64) (*publishedPage, pluginAnswer) {
	for {
		page, a := r.askPlugin(ctx, endpoint, after, r.plugin.limit)
		if page != nil || !a.large || r.plugin.limit <= publishedLeast || ctx.Err() != nil {
			return page, a
		}
		r.plugin.limit = max(r.plugin.limit/4, publishedLeast)
	}
}

// pluginAnswer is how one request ended that gave no page.
type pluginAnswer struct {
	endpoint, outcome, reason string
	large                     bool // fewer posts might be answered
}

// askPlugin makes one request, and one more where the site itself sends it to another of its addresses.
func (r *run) askPlugin(ctx context.Context, endpoint string, after int64, limit int) (*publishedPage, pluginAnswer) {
	for range 3 {
		at := publishedURL(endpoint, after, limit)
		header, ok := signedHeader(r.plugin.secret, after, limit, r.o.Now())
		if !ok {
			return nil, pluginAnswer{endpoint, models.PublishedInvalid, "the site's hook secret is not readable", false}
		}
		origin := originOf(at)
		req := fetch.Request{URL: at, Origin: at, Kind: fetch.Document, Accept: "application/json", NoCache: true, OneHop: true, Header: header, MaxWire: publishedMaxBytes}
		if origin == originOf(r.site.Root) {
			req.Username, req.Password = r.site.Settings.Username, r.site.Settings.Password
		}
		var body []byte
		var cut error
		result, _ := r.o.Web.Read(ctx, req, func(res *fetch.Result) error {
			body, cut = readInflated(res)
			return cut
		})
		r.plugin.Requests += int64(result.Attempts)
		r.record.Bytes += int64(len(body))
		if next, ok := r.redirectedPlugin(result, endpoint); ok {
			endpoint = next
			continue
		}
		return r.judgePlugin(endpoint, result, body, cut, after, limit)
	}
	return nil, pluginAnswer{endpoint, models.PublishedUnavailable, "it redirects in a circle", false}
}

// redirectedPlugin gives the endpoint that a redirect leads to, where it is one of the site's own addresses and the same list.
func (r *run) redirectedPlugin(result *fetch.Result, endpoint string) (string, bool) {
	if len(result.Hops) == 0 {
		return "", false
	}
	from, err := url.Parse(result.Hops[0].URL)
	if err != nil {
		return "", false
	}
	to, err := from.Parse(result.Hops[0].Location)
	if err != nil || from.Scheme == "https" && to.Scheme != "https" {
		return "", false
	}
	u, problem := weburl.Parse(nil, []byte(to.String()))
	if problem != weburl.None || !r.owns(u.Identity) {
		return "", false
	}
	form := prettyForm
	if strings.Contains(endpoint, "rest_route=") {
		form = plainForm
	}
	path, _, _ := strings.Cut(form, "?")
	if !strings.HasSuffix(strings.TrimSuffix(to.Path, "/"), strings.TrimSuffix(path, "/")) {
		return "", false
	}
	to.RawQuery, to.Fragment = "", ""
	next := to.String()
	if form == plainForm {
		next += plainForm
	}
	return next, next != endpoint
}

// judgePlugin reads an answer, or says what kind of answer it is.
func (r *run) judgePlugin(endpoint string, result *fetch.Result, body []byte, cut error, after int64, limit int) (*publishedPage, pluginAnswer) {
	a := pluginAnswer{endpoint: endpoint, outcome: models.PublishedUnavailable}
	switch {
	case result.Outcome == fetch.OK && cut != nil:
		a.reason, a.large = "the answer was cut: "+cut.Error(), true
		return nil, a
	case result.Outcome == fetch.OK:
		page, wrong := parsePublished(body, after, limit, r.owns)
		if wrong == "" {
			return &page, a
		}
		a.outcome, a.reason = models.PublishedInvalid, wrong
		if !looksLikeJSON(body) { // the home page, or an error page: a site without the plugin, or without this form of address
			a.outcome, a.reason = models.PublishedAbsent, "the site answers with something that is no list of posts"
		}
		return nil, a
	case result.Outcome != fetch.HTTPError:
		a.reason, a.large = reasonOf(result), result.Outcome == fetch.Timeout || result.Outcome == fetch.TooLarge || result.Outcome == fetch.TooSlow
		return nil, a
	}
	a.reason = fmt.Sprintf("it answered %d", result.Status)
	switch {
	case result.Status == http.StatusNotFound || result.Status == http.StatusGone || result.Status == http.StatusMethodNotAllowed:
		a.outcome = models.PublishedAbsent
	case result.Status == http.StatusUnauthorized && strings.Contains(string(body), "sitemapd_signature"):
		a.outcome = models.PublishedRefused
		a.reason = "it does not take the signature: the secret in the plugin's settings, or a clock, differs"
	case result.Status >= 500:
		a.large = true
	}
	return nil, a
}

func looksLikeJSON(body []byte) bool {
	text := strings.TrimLeft(string(body[:min(len(body), 64)]), "\xef\xbb\xbf \t\r\n")
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

func originOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// readInflated reads a body to its clean end, at most publishedMaxBytes of it.
func readInflated(res *fetch.Result) ([]byte, error) {
	var src io.Reader = res.Body
	if strings.EqualFold(res.ContentEncoding, "gzip") {
		unpacked, err := gzip.NewReader(res.Body)
		if err != nil {
			return nil, fmt.Errorf("inflate: %w", err)
		}
		src = unpacked
	}
	body, err := io.ReadAll(io.LimitReader(src, publishedMaxBytes+1))
	if err == nil && len(body) > publishedMaxBytes {
		err = fmt.Errorf("it has more than %d bytes", publishedMaxBytes)
	}
	return body, err
}
