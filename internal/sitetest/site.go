package sitetest

import (
	"cmp"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Site is an http.Handler. All methods may be called at any time.
type Site struct {
	opt       Options
	seededIDs int

	mu      sync.RWMutex
	base    string
	posts   []uint32         // published, by ID
	pages   []uint32         // published, by ID
	changed map[uint32]*post // whatever is no longer as seeded
	slugs   map[string]uint32
	nextID  uint32
	counts  map[string][]int // published posts by category, tag, author
	shuffle uint64           // not 0: entries of each file are served in another order
	version uint64           // raised by every edit
	derived derived
	cache   map[string]*rendered

	listener net.Listener
	server   *http.Server

	faults faults
	log    requestLog
}

// derived is computed from the state when first needed after an edit.
type derived struct {
	version           uint64
	posts, pages      []uint32 // in the layout's order
	newest            time.Time
	postMax           time.Time
	pageMax           time.Time
	termMax           map[string][]time.Time
	haveOrder, haveUp bool
}

// New makes a site with its seeded content published.
func New(o Options) *Site {
	if o.Location == nil {
		o.Location = time.UTC
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Site{
		opt: o, base: o.BaseURL, seededIDs: o.Posts + o.Pages,
		changed: map[uint32]*post{}, slugs: map[string]uint32{}, cache: map[string]*rendered{},
		nextID: uint32(o.Posts + o.Pages + 1), version: 1,
	}
	s.counts = map[string][]int{
		kindCategory: make([]int, o.Categories), kindTag: make([]int, o.Tags), kindAuthor: make([]int, o.Users),
	}
	s.posts, s.pages = make([]uint32, o.Posts), make([]uint32, o.Pages)
	for i := range s.posts {
		s.posts[i] = uint32(i + 1)
		if o.Categories+o.Tags+o.Users > 0 {
			s.count(s.seeded(s.posts[i]), 1)
		}
	}
	for i := range s.pages {
		s.pages[i] = uint32(o.Posts + i + 1)
	}
	return s
}

func (s *Site) get(id uint32) (post, bool) {
	if p := s.changed[id]; p != nil {
		return *p, p.status != deleted
	}
	if id == 0 || int(id) > s.seededIDs {
		return post{}, false
	}
	return s.seeded(id), true
}

// count keeps how many published posts each term and author has: WordPress
// lists only those that have any.
func (s *Site) count(p post, by int) {
	for kind, n := range map[string]int{kindCategory: p.category, kindTag: p.tag, kindAuthor: p.author} {
		if n < 0 {
			continue
		}
		for len(s.counts[kind]) <= n {
			s.counts[kind] = append(s.counts[kind], 0)
		}
		s.counts[kind][n] += by
	}
}

func (s *Site) list(page bool) *[]uint32 {
	if page {
		return &s.pages
	}
	return &s.posts
}

// put stores p and keeps the published lists, counts and slugs true to it.
func (s *Site) put(p post) {
	before, existed := s.get(p.id)
	was := existed && before.status == published
	list := s.list(p.page)
	at, found := slices.BinarySearch(*list, p.id)
	switch {
	case p.status == published && !found:
		*list = slices.Insert(*list, at, p.id)
	case p.status != published && found:
		*list = slices.Delete(*list, at, at+1)
	}
	if was && !before.page {
		s.count(before, -1)
	}
	if p.status == published && !p.page {
		s.count(p, 1)
	}
	if existed && before.slug != p.slug {
		s.slugs[before.slug] = p.id // redirects, as WordPress' _wp_old_slug does
	}
	s.slugs[p.slug] = p.id
	s.changed[p.id] = &p
	s.version++
}

func (s *Site) now() time.Time { return s.opt.Now().UTC().Truncate(time.Second) }

// order gives the published IDs in the order of the layout.
func (s *Site) order(page bool) []uint32 {
	if s.opt.Layout == Core {
		return *s.list(page)
	}
	d := s.derive()
	if !d.haveOrder {
		d.posts, d.pages = s.byModified(s.posts), s.byModified(s.pages)
		d.haveOrder = true
	}
	if page {
		return d.pages
	}
	return d.posts
}

func (s *Site) byModified(ids []uint32) []uint32 {
	type key struct {
		id uint32
		at int64
	}
	keys := make([]key, len(ids))
	for i, id := range ids {
		p, _ := s.get(id)
		keys[i] = key{id, p.modified.Unix()}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if s.opt.Layout == RankMath {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id))
	})
	out := make([]uint32, len(keys))
	for i, k := range keys {
		out[i] = k.id
	}
	return out
}

func (s *Site) derive() *derived {
	if s.derived.version != s.version {
		s.derived = derived{version: s.version}
	}
	return &s.derived
}

// newest is the latest change among the ten latest posts, which is what the
// home page's lastmod says.
func (s *Site) newest() time.Time {
	d := s.derive()
	if d.haveUp {
		return d.newest
	}
	var latest []post
	seen := map[uint32]bool{}
	add := func(id uint32) {
		if p, ok := s.get(id); ok && !seen[id] && p.status == published && !p.page {
			seen[id] = true
			latest = append(latest, p)
		}
	}
	for id := range s.changed {
		add(id)
	}
	for i, n := len(s.posts)-1, 0; i >= 0 && n < 10; i-- {
		if s.changed[s.posts[i]] == nil {
			add(s.posts[i])
			n++
		}
	}
	slices.SortFunc(latest, func(a, b post) int {
		return cmp.Or(b.date.Compare(a.date), cmp.Compare(b.id, a.id))
	})
	d.newest = time.Time{}
	for _, p := range latest[:min(10, len(latest))] {
		if p.modified.After(d.newest) {
			d.newest = p.modified
		}
	}
	s.deriveMax(d)
	d.haveUp = true
	return d.newest
}

// deriveMax finds the newest change of each kind and term, which the plugins
// print in their index. Core prints none, so there it is left out.
func (s *Site) deriveMax(d *derived) {
	if s.opt.Layout == Core {
		return
	}
	d.termMax = map[string][]time.Time{}
	for kind, counts := range s.counts {
		d.termMax[kind] = make([]time.Time, len(counts))
	}
	for _, id := range s.posts {
		p, _ := s.get(id)
		raise(&d.postMax, p.modified)
		for kind, n := range map[string]int{kindCategory: p.category, kindTag: p.tag, kindAuthor: p.author} {
			if n >= 0 {
				raise(&d.termMax[kind][n], p.modified)
			}
		}
	}
	raise(&d.pageMax, d.newest)
	for _, id := range s.pages {
		p, _ := s.get(id)
		raise(&d.pageMax, p.modified)
	}
}

func raise(t *time.Time, to time.Time) {
	if to.After(*t) {
		*t = to
	}
}
