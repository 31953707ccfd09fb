package sitetest

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Event tells an edit in the words of the hook contract.
type Event struct {
	Type        string // "post.published", "post.updated", "post.unpublished", "post.deleted", "" when nothing was done
	ID          uint32
	PostType    string // "post" or "page"
	URL         string // of the page now, or where it was when it is gone
	PreviousURL string // when the URL changed
	Modified    time.Time
}

// Spec describes a new post; the zero value is filled in.
type Spec struct {
	Slug     string    // made from the seed; WordPress' rule: "-2" is added when taken
	Page     bool      // a page instead of a post
	Date     time.Time // of publication: now; an earlier one makes a back-dated post whose lastmod is that date
	Category int       // number from 1; a new one appears in the sitemap. 0: by seed
	Draft    bool      // kept back until Restore: the URL then appears in the middle of the list
}

// Publish adds a post or page with the next ID.
func (s *Site) Publish(spec Spec) Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.publish(spec)
}

func (s *Site) publish(spec Spec) Event {
	id := s.nextID
	s.nextID++
	h := mix(s.opt.Seed, uint64(id))
	p := post{id: id, page: spec.Page, category: -1, tag: -1, author: -1, date: spec.Date.UTC().Truncate(time.Second)}
	if spec.Date.IsZero() {
		p.date = s.now()
	}
	p.modified = p.date
	if !p.page {
		p.image = h%4 == 1
		p.category = pick(mix(h, 1), s.opt.Categories)
		p.tag = pick(mix(h, 2), s.opt.Tags)
		p.author = pick(mix(h, 3), s.opt.Users)
		if spec.Category > 0 {
			p.category = spec.Category - 1
		}
	}
	if p.slug = spec.Slug; p.slug == "" {
		p.slug = seededSlug(h, id)
	}
	p.slug = s.freeSlug(p.slug, id)
	if spec.Draft {
		p.status = draft
	}
	s.put(p)
	if spec.Draft {
		return Event{ID: id, PostType: typeOf(p)}
	}
	return s.event("post.published", p)
}

func typeOf(p post) string {
	if p.page {
		return kindPage
	}
	return kindPost
}

func (s *Site) event(kind string, p post) Event {
	return Event{Type: kind, ID: p.id, PostType: typeOf(p), URL: s.permalink(p), Modified: p.modified}
}

// freeSlug is WordPress' wp_unique_post_slug for those still in use.
func (s *Site) freeSlug(slug string, id uint32) string {
	try := slug
	for n := 2; ; n++ {
		other, taken := s.bySlug(try)
		if !taken || other.id == id || other.slug != try || other.status == trashed {
			return try
		}
		try = slug + "-" + strconv.Itoa(n)
	}
}

// edit changes a post that exists; keep reports whether lastmod stays.
func (s *Site) edit(id uint32, kind string, change func(*post) (ok bool)) Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.get(id)
	if !ok {
		return Event{}
	}
	old := s.permalink(p)
	if !change(&p) {
		return Event{}
	}
	s.put(p)
	e := s.event(kind, p)
	if p.status != published {
		e.URL = old
	} else if old != e.URL {
		e.PreviousURL = old
	}
	return e
}

// touch moves lastmod to now, and at least one second on: WordPress prints
// seconds, and an edit is to be seen.
func (s *Site) touch(p *post) {
	now := s.now()
	if !now.After(p.modified) {
		now = p.modified.Add(time.Second)
	}
	p.modified = now
}

// Edit changes a public post's text: its lastmod alone.
func (s *Site) Edit(id uint32) Event {
	return s.edit(id, "post.updated", func(p *post) bool {
		s.touch(p)
		return p.status == published
	})
}

// ChangeSlug gives a public post another URL; the old one redirects.
func (s *Site) ChangeSlug(id uint32, slug string) Event {
	return s.edit(id, "post.updated", func(p *post) bool {
		p.slug = s.freeSlug(slug, p.id)
		s.touch(p)
		return p.status == published
	})
}

// Unpublish makes a public post a draft.
func (s *Site) Unpublish(id uint32) Event { return s.withdraw(id, "post.unpublished", draft) }

// Trash moves a public post to the trash.
func (s *Site) Trash(id uint32) Event { return s.withdraw(id, "post.unpublished", trashed) }

// Delete removes a post for good; its ID never returns.
func (s *Site) Delete(id uint32) Event { return s.withdraw(id, "post.deleted", deleted) }

func (s *Site) withdraw(id uint32, kind string, to status) Event {
	return s.edit(id, kind, func(p *post) bool {
		ok := p.status == published || to == deleted
		p.status = to
		s.touch(p)
		return ok
	})
}

// Restore publishes a draft or trashed post again, under its old ID and place.
func (s *Site) Restore(id uint32) Event {
	return s.edit(id, "post.published", func(p *post) bool {
		ok := p.status == draft || p.status == trashed
		p.status = published
		p.slug = s.freeSlug(p.slug, p.id)
		s.touch(p)
		return ok
	})
}

// BulkImport adds n posts with dates of the past, as an import does.
func (s *Site) BulkImport(n int) []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts = slices.Grow(s.posts, n)
	out := make([]Event, 0, n)
	for range n {
		h := mix(s.opt.Seed, uint64(s.nextID)+1<<32)
		out = append(out, s.publish(Spec{Date: firstDate.Add(time.Duration(h%(3650*24*3600)) * time.Second)}))
	}
	return out
}

// EditShare edits every post whose ID is a multiple of each: 100 edits one per
// cent. It returns how many.
func (s *Site) EditShare(each int) int {
	s.mu.RLock()
	var ids []uint32
	for _, id := range s.posts {
		if int(id)%each == 0 {
			ids = append(ids, id)
		}
	}
	s.mu.RUnlock()
	for _, id := range ids {
		s.Edit(id)
	}
	return len(ids)
}

// Reorder serves the entries of every file in another order: noise that means
// nothing. Every call gives a new order.
func (s *Site) Reorder() { s.set(func() { s.shuffle = mix(s.shuffle, s.version) | 1 }) }

// SetTimezone changes the site's zone: core spells every lastmod differently,
// the instants stay.
func (s *Site) SetTimezone(l *time.Location) { s.set(func() { s.opt.Location = l }) }

// SwitchLayout installs or removes a plugin: every sitemap URL changes, no page.
func (s *Site) SwitchLayout(l Layout) { s.set(func() { s.opt.Layout = l }) }

// ChangePermalinks changes every page URL, no lastmod; old URLs redirect.
func (s *Site) ChangePermalinks(p Permalinks) { s.set(func() { s.opt.Permalinks = p }) }

// SetPerFile changes the number of URLs a file.
func (s *Site) SetPerFile(n int) { s.set(func() { s.opt.PerFile = n }) }

// SetBase moves the site to another base URL.
func (s *Site) SetBase(base string) { s.set(func() { s.base = strings.TrimSuffix(base, "/") }) }

func (s *Site) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.version++
}

// PublishedPosts are the IDs of the public posts, ascending.
func (s *Site) PublishedPosts() []uint32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.posts)
}

// bySlug finds the post that has or had a slug.
func (s *Site) bySlug(slug string) (post, bool) {
	if id, ok := s.slugs[slug]; ok {
		return s.get(id)
	}
	id, ok := slugID(slug)
	if !ok || int(id) > s.seededIDs || s.seeded(id).slug != slug {
		return post{}, false
	}
	return s.get(id)
}
