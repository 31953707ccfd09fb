package syncer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// readPosts reads a list to its end, page by page, and stages what differs from what is stored of it. What the list does
// not name is gone only when it was read to its end and no event of the site fell between; otherwise it is read once more.
func (r *run) readPosts(ctx context.Context, first *publishedPage) error {
	p := &r.plugin
	if problem := r.foreignHome(first.home); problem != "" {
		p.Outcome, p.Reason = models.PublishedInvalid, problem
		return nil
	}
	p.Home, p.SiteURL, p.PermalinkStructure, p.System = first.home, first.siteURL, first.permalinks, first.system
	// Before any post, so that a sweep knows that there may be some.
	if err := r.o.Store.SavePluginInventory(ctx, r.lease, p.PluginInventory); err != nil {
		return err
	}
	seen, err := r.readPages(ctx, first)
	if err != nil {
		return err
	}
	if p.Complete() && !p.Steady && len(seen) <= publishedCheap {
		again, a := r.askPatiently(ctx, p.Endpoint, 0)
		if again == nil {
			p.Outcome, p.Reason = models.PublishedPartial, a.reason
			return nil
		}
		if seen, err = r.readPages(ctx, again); err != nil {
			return err
		}
	}
	if !p.proves() {
		return nil
	}
	return r.endPosts(ctx, seen)
}

// readPages reads from a first page to the end. It gives the numbers of all posts that were listed, ascending.
func (r *run) readPages(ctx context.Context, page *publishedPage) (seen []int64, err error) {
	p := &r.plugin
	p.Outcome, p.Reason, p.Steady, p.Seq, p.Posts = models.PublishedPartial, "", true, page.seq, 0
	after := int64(0)
	for n := 1; ; n++ {
		p.Steady = p.Steady && page.seq == p.Seq
		seen = append(seen, page.ids...)
		p.Posts = int64(len(seen))
		if err := r.stagePosts(ctx, page, after); err != nil {
			return nil, err
		}
		if page.next == 0 {
			p.Outcome = models.PublishedComplete
			return seen, nil
		}
		if n == publishedMost {
			p.Reason = fmt.Sprintf("it is longer than %d answers", n)
			return seen, nil
		}
		after = page.next
		home := page.home
		var a pluginAnswer
		if page, a = r.askPatiently(ctx, p.Endpoint, after); page == nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			p.Reason = fmt.Sprintf("after post %d: %s", after, a.reason)
			return seen, nil
		}
		if page.home != home {
			p.Reason = fmt.Sprintf("the site's address changed from %s to %s while its posts were read", home, page.home)
			return seen, nil
		}
	}
}

// stagePosts stages the posts of one page that are new or say something else than before.
func (r *run) stagePosts(ctx context.Context, page *publishedPage, after int64) error {
	last := models.Open
	if page.next > 0 {
		last = page.next
	}
	stored := map[int64]*models.PublishedPost{}
	for from := after; len(page.posts) > 0; {
		rows, err := r.o.Store.PublishedPosts(ctx, r.site.ID, from, publishedLimit)
		if err != nil {
			return err
		}
		for i := range rows {
			if from = rows[i].PostID; from <= last {
				stored[from] = &rows[i]
			}
		}
		if len(rows) < publishedLimit || from >= last || from >= page.ids[len(page.ids)-1] {
			break
		}
	}
	changed := slices.DeleteFunc(page.posts, func(post models.PublishedPost) bool {
		old := stored[post.PostID]
		return old != nil && samePost(old, &post)
	})
	if len(changed) == 0 {
		return nil
	}
	return r.o.Store.StagePublished(ctx, r.lease, r.site.ID, r.record.ID, changed)
}

// endPosts notes the posts that a list, read to its end, has no more.
func (r *run) endPosts(ctx context.Context, seen []int64) error {
	for after := int64(0); ; {
		rows, err := r.o.Store.PublishedPosts(ctx, r.site.ID, after, publishedLimit)
		if err != nil {
			return err
		}
		var gone []models.PublishedPost
		for _, row := range rows {
			after = row.PostID
			if _, listed := slices.BinarySearch(seen, row.PostID); !listed && row.Status != models.PostGone {
				row.Status = models.PostGone
				gone = append(gone, row)
			}
		}
		if len(gone) > 0 {
			if err := r.o.Store.StagePublished(ctx, r.lease, r.site.ID, r.record.ID, gone); err != nil {
				return err
			}
		}
		if len(rows) < publishedLimit {
			return nil
		}
	}
}

// foreignHome tells why a list is not this site's: a copy of the site, or another one behind the same address.
func (r *run) foreignHome(home string) string {
	u, problem := weburl.Parse(nil, []byte(home))
	if problem != weburl.None || !r.owns(u.Identity) {
		return "the list is of another site: " + strings.ToValidUTF8(home[:min(len(home), 200)], "?")
	}
	return ""
}
