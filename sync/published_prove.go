package syncer

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// Who says that a page is gone, as the reason of a removal puts it.
const (
	saidByHook   = "a hook said that it is gone"
	saidByPlugin = "the site's own list of posts has it no more"
)

// corroborate holds what the walk misses against the plugin's inventory. A post that was listed there under a missing page's
// address and is not any more corroborates the removal; one that is listed under another address now has moved.
func (r *run) corroborate(ctx context.Context, s *settlement) error {
	keys := make([]models.Key, 0, len(s.missing)+len(s.lost))
	for _, p := range s.missing {
		keys = append(keys, p.key)
	}
	for key := range s.lost {
		keys = append(keys, key)
	}
	if len(keys) == 0 || !r.plugin.proves() && !(r.plugin.answer && len(keys) <= mostAsked) {
		return nil
	}
	for portion := range slices.Chunk(sortKeys(keys), lookupKeys) {
		versions, err := r.o.Store.PublishedAt(ctx, r.site.ID, portion)
		if err != nil {
			return err
		}
		if !r.plugin.proves() { // a long list, read a while ago: the few posts that matter are asked for one by one
			versions = r.lookAtPosts(ctx, versions)
		}
		wanted := make(map[models.Key]bool, len(portion))
		for _, key := range portion {
			wanted[key] = true
		}
		for key, now := range whereTo(versions, wanted) {
			if err := r.believe(ctx, s, key, now); err != nil {
				return err
			}
		}
	}
	for _, p := range s.missing {
		if m, ok := s.told[p.key]; ok {
			s.renamed[p] = move{from: p, to: m.to, toURL: m.toURL, by: m.by}
		}
	}
	return ctx.Err()
}

// whereTo tells what became of pages that were a post's address once: where the post is now. A page that still is a published
// post's address is left out.
func whereTo(versions []models.PublishedPost, wanted map[models.Key]bool) map[models.Key]models.PublishedPost {
	open := map[int64]models.PublishedPost{}
	stands := map[models.Key]bool{}
	for _, v := range versions {
		if v.ToRun == models.Open {
			open[v.PostID] = v
			stands[v.Key] = stands[v.Key] || v.Status == models.PostPublished
		}
	}
	out := map[models.Key]models.PublishedPost{}
	for _, v := range versions { // of several posts that had the address, the last
		if now, ok := open[v.PostID]; ok && wanted[v.Key] && !stands[v.Key] {
			out[v.Key] = now
		}
	}
	return out
}

// believe notes what the plugin's inventory says of a page that the walk misses.
func (r *run) believe(ctx context.Context, s *settlement, key models.Key, now models.PublishedPost) error {
	if r.vouched[key] == "" {
		r.vouched[key] = saidByPlugin
	}
	if now.Status != models.PostPublished || now.Key == key {
		return nil
	}
	if _, told := s.told[key]; told {
		return nil
	}
	listed, err := r.o.Store.Elsewhere(ctx, r.site.ID, []models.Key{now.Key})
	if err != nil {
		return fmt.Errorf("look for a post that moved: %w", err)
	}
	if len(listed) > 0 {
		s.told[key] = move{to: now.Key, toURL: now.URL, by: fmt.Sprintf("the site's own list of posts has post %d under a page that is listed", now.PostID)}
	}
	return nil
}

// lookAtPosts asks where a few posts are now: the list from the number before each, one post long. A post that cannot be
// asked for says nothing.
func (r *run) lookAtPosts(ctx context.Context, versions []models.PublishedPost) []models.PublishedPost {
	var out []models.PublishedPost
	asked := map[int64]bool{}
	for _, v := range versions {
		if v.ToRun != models.Open {
			out = append(out, v)
			continue
		}
		if asked[v.PostID] || len(asked) == mostAsked {
			continue
		}
		asked[v.PostID] = true
		before := r.plugin.Requests
		page, _ := r.askPlugin(ctx, r.plugin.Endpoint, v.PostID-1, 1)
		r.record.Requests += r.plugin.Requests - before
		switch {
		case page == nil || r.foreignHome(page.home) != "":
			continue
		case len(page.ids) == 0 || page.ids[0] != v.PostID:
			v.Status = models.PostGone
		case len(page.posts) == 0:
			continue // its address is none of the site's now
		default:
			old := v
			old.ToRun = r.record.ID
			out = append(out, old) // the address that it had
			v.URL, v.Key, v.Status = page.posts[0].URL, page.posts[0].Key, models.PostPublished
		}
		out = append(out, v)
	}
	return out
}

// namedPosts bounds what is named one by one of posts that the sitemaps do not agree with.
const namedPosts = 20

// undeclared compares the whole inventory of the plugin with what the documents list, once a full run knows both.
func (r *run) undeclared(ctx context.Context, s *settlement) error {
	if !r.plugin.proves() {
		return nil
	}
	missing := map[string]*postTally{}
	var left []models.PublishedPost
	for after := int64(0); ; {
		posts, err := r.o.Store.PublishedPosts(ctx, r.site.ID, after, lookupKeys)
		if err != nil {
			return err
		}
		if len(posts) > 0 {
			after = posts[len(posts)-1].PostID
			if left, err = r.compare(ctx, s, posts, missing, left); err != nil {
				return err
			}
		}
		if len(posts) < lookupKeys {
			break
		}
	}
	r.noteUndeclared(missing)
	r.plugin.DeclaredGone = int64(len(left))
	for _, post := range left[:min(len(left), namedPosts)] {
		r.notePost(sitemap.DeclaredButGone, post.URL, fmt.Sprintf("the site's own list of posts has post %d no more, but a document still lists it", post.PostID))
	}
	return r.o.Store.SavePluginInventory(ctx, r.lease, r.plugin.PluginInventory)
}

// postTally counts the posts of one type.
type postTally struct {
	all, declared int64
	undeclared    []models.PublishedPost // the first of them
	count         int64
}

// compare sorts posts into those that documents list, those that none lists, and those that are gone but listed still.
func (r *run) compare(ctx context.Context, s *settlement, posts []models.PublishedPost, types map[string]*postTally, left []models.PublishedPost) ([]models.PublishedPost, error) {
	keys := make([]models.Key, 0, len(posts))
	published := map[models.Key]bool{}
	for _, post := range posts {
		keys = append(keys, post.Key)
	}
	rows, err := r.o.Store.Elsewhere(ctx, r.site.ID, sortKeys(keys))
	if err != nil {
		return left, fmt.Errorf("look for published posts: %w", err)
	}
	listed := make(map[models.Key]bool, len(rows))
	for _, row := range rows {
		listed[row.Key] = listed[row.Key] || !r.doubted(s, row.Key)
	}
	for _, post := range posts {
		published[post.Key] = published[post.Key] || post.Status == models.PostPublished
	}
	for _, post := range posts {
		switch {
		case post.Status == models.PostGone:
			if listed[post.Key] && !published[post.Key] {
				others, err := r.o.Store.PublishedAt(ctx, r.site.ID, []models.Key{post.Key})
				if err != nil {
					return left, err
				}
				if !slices.ContainsFunc(others, func(o models.PublishedPost) bool {
					return o.Key == post.Key && o.ToRun == models.Open && o.Status == models.PostPublished
				}) {
					left = append(left, post)
				}
			}
			continue
		case post.Noindex || post.Password || !r.settledPost(&post): // SEO plugins leave these out on purpose
			continue
		}
		t := types[post.Type]
		if t == nil {
			t = &postTally{}
			types[post.Type] = t
		}
		t.all++
		if listed[post.Key] {
			t.declared++
			continue
		}
		t.count++
		if len(t.undeclared) <= namedPosts {
			t.undeclared = append(t.undeclared, post)
		}
	}
	return left, nil
}

// settledPost tells whether a post was published long enough before the walk for the sitemap to list it: an earlier reading
// knew it, or it was last modified an hour before.
func (r *run) settledPost(post *models.PublishedPost) bool {
	return post.FromRun < r.record.ID || post.Modified != nil && r.record.StartedAt.Sub(*post.Modified) >= publishedPause
}

// doubted tells whether a row that is open stands for a page that this walk, or an earlier one, misses.
func (r *run) doubted(s *settlement, key models.Key) bool {
	if c := r.undecided[key]; c != nil && !s.back[key] && gone(c) {
		return true
	}
	i, _ := slices.BinarySearchFunc(s.missing, key, func(p place, k models.Key) int { return bytes.Compare(p.key[:], k[:]) })
	return i < len(s.missing) && s.missing[i].key == key
}

// noteUndeclared tells which published posts no document lists: one by one where they are few, else by type. A type of which
// nothing is listed is the site owner's choice, and so is a sitemap of the newest pages alone.
func (r *run) noteUndeclared(types map[string]*postTally) {
	names := make([]string, 0, len(types))
	for name := range types {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t := types[name]
		r.plugin.NotDeclared += t.count
		switch {
		case t.count == 0:
		case t.declared == 0:
			r.note(sitemap.PublishedNotDeclared, models.SeverityInfo, r.site.Root, fmt.Sprintf("none of %d published posts of type %s is in a document", t.all, name))
		case t.count <= namedPosts:
			for _, post := range t.undeclared {
				r.notePost(sitemap.PublishedNotDeclared, post.URL, fmt.Sprintf("the site's own list of posts has it as post %d, but no document lists it", post.PostID))
			}
		default:
			r.notePost(sitemap.PublishedNotDeclared, t.undeclared[0].URL, fmt.Sprintf("%d of %d published posts of type %s are in no document; this is one of them", t.count, t.all, name))
		}
	}
}

// notePost adds a finding about a page.
func (r *run) notePost(code, page, text string) {
	rule, _ := sitemap.SiteRuleOf(code)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.findings) < 200 {
		r.findings = append(r.findings, models.Finding{Code: code, Severity: string(rule.Severity), Document: r.site.Root, Page: page, Text: text})
	}
}
