package syncer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// controlChoice is how many pages of a document are looked at to find one like a page that answered 404, and
// controlDocuments in how many documents.
const (
	controlChoice    = 64
	controlDocuments = 8
)

// pageAsker asks the site's own pages for their status, without their bodies, as robots.txt allows.
type pageAsker struct {
	*run
	base  fetch.Request
	rules *fetch.RobotsRules
}

func (r *run) pageAsker(ctx context.Context) pageAsker {
	base := fetch.Request{URL: r.site.Root, Origin: r.site.Root, Username: r.site.Settings.Username, Password: r.site.Settings.Password}
	rules, _ := r.o.Web.ReadRobots(ctx, base)
	base.Kind, base.Method, base.CrawlDelay = fetch.Page, http.MethodHead, rules.CrawlDelay()
	return pageAsker{r, base, rules}
}

func (a pageAsker) ask(ctx context.Context, page string) *fetch.Result {
	request := a.base
	request.URL = page
	result, _ := a.o.Web.Read(ctx, request, func(*fetch.Result) error { return nil })
	a.record.Requests += int64(result.Attempts)
	return result
}

// goneAnswer tells whether an answer to a missing page's own address may prove that it is gone: 410, or 404 from the site
// itself. What another host says, to which it redirects, proves nothing.
func (r *run) goneAnswer(result *fetch.Result) bool {
	if result.Status != http.StatusNotFound && result.Status != http.StatusGone {
		return false
	}
	return len(result.Hops) == 0 || r.owns([]byte(result.FinalURL))
}

// controls asks, for each document from which a page is missing that answers 404, one page like it that is listed still: a
// server that answers 404 to everything (in maintenance, or to us alone) proves nothing. It is asked afterwards, so that a
// server that began to refuse us meanwhile is found out.
func (a pageAsker) controls(ctx context.Context, s *settlement, notFound []models.Declaration) error {
	s.controls = map[int32]models.PageAnswer{}
	for _, row := range notFound {
		if _, asked := s.controls[row.Document]; asked {
			continue
		}
		page, err := a.control(ctx, s, row)
		if err != nil {
			return err
		}
		answer := models.PageAnswer{URL: page}
		if page != "" {
			if result := a.ask(ctx, page); len(result.Hops) == 0 { // where it leads elsewhere, it is not the page that answers
				answer.Status = result.Status
			}
		}
		s.controls[row.Document] = answer
	}
	return ctx.Err()
}

// control chooses the listed page that is most like one that is missing: of the same document or else of another, in the
// same folder where there is one. "" when there is none: the home page alone says nothing, it answers where no other does.
func (a pageAsker) control(ctx context.Context, s *settlement, missing models.Declaration) (string, error) {
	numbers := []int32{missing.Document}
	for _, d := range a.order {
		if d.Number != missing.Document && len(numbers) < controlDocuments {
			numbers = append(numbers, d.Number)
		}
	}
	for _, number := range numbers {
		d := a.byNumber(number)
		if d == nil || d.Verdict == models.VerdictGone || d.alias || d.Type == typeIndex {
			continue
		}
		rows, err := a.listedNear(ctx, s, number, missing.Key)
		if err != nil {
			return "", err
		}
		best, similar := "", -1
		for _, row := range rows {
			if a.isHome(row.URL) || !a.rules.Allowed(row.URL) {
				continue
			}
			if n := likeness(row.URL, missing.URL); n > similar {
				best, similar = row.URL, n
			}
		}
		if best != "" {
			return best, nil
		}
	}
	return "", nil
}

var errEnough = errors.New("enough rows")

// listedNear gives some rows of pages that this walk found in a document, those behind a key first: keys are hashes, so
// another page that is missing meets other ones.
func (r *run) listedNear(ctx context.Context, s *settlement, number int32, key models.Key) ([]models.Declaration, error) {
	var last models.Key
	for i := range last {
		last[i] = 0xff
	}
	var keys []models.Key
	take := func(l models.Listing) error {
		if l.Role != models.RoleForeign && !r.doubted(s, l.Key) && r.undecided[l.Key] == nil {
			keys = append(keys, l.Key)
		}
		if len(keys) == controlChoice {
			return errEnough
		}
		return nil
	}
	for _, part := range []models.KeyRange{{From: key, To: last}, {To: key}} {
		if len(keys) == controlChoice {
			break
		}
		if err := r.o.Store.ListingsIn(ctx, r.site.ID, number, []models.KeyRange{part}, take); err != nil && !errors.Is(err, errEnough) {
			return nil, fmt.Errorf("look for a listed page: %w", err)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := r.o.Store.Rows(ctx, r.site.ID, number, sortKeys(keys))
	if err != nil {
		return nil, fmt.Errorf("read rows of document %d: %w", number, err)
	}
	return rows, nil
}

func (r *run) isHome(page string) bool {
	u, err := url.Parse(page)
	return err != nil || page == r.site.Home || (u.Path == "" || u.Path == "/") && u.RawQuery == ""
}

// likeness grows with how many leading bytes of two URLs' folders agree, and prefers the same folder to all others.
func likeness(a, b string) int {
	x, y := folder(a), folder(b)
	if x == y {
		return 1 << 20
	}
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

func folder(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host + path.Dir(path.Clean("/"+u.Path))
}

// ownWord gives the reason for which a missing page's own answer removes it at once; "" when it does not.
func (s *settlement) ownWord(at place) string {
	if !s.gone[at] {
		return ""
	}
	if s.answers[at] == http.StatusGone {
		return "not listed by a complete walk, and the page itself answers 410 Gone"
	}
	if c := s.controls[at.document]; c.Status >= 200 && c.Status < 300 {
		return fmt.Sprintf("not listed by a complete walk, and the page itself answers 404 Not Found, while a page that is listed answers %d", c.Status)
	}
	return ""
}
