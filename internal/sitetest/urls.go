package sitetest

import (
	"strconv"
	"time"
)

// entry is one <url>.
type entry struct {
	loc     string
	lastmod time.Time // zero: none printed
	image   string
}

func (s *Site) permalink(p post) string {
	if s.opt.Permalinks == Plain {
		if p.page {
			return s.base + "/?page_id=" + strconv.FormatUint(uint64(p.id), 10)
		}
		return s.base + "/?p=" + strconv.FormatUint(uint64(p.id), 10)
	}
	if s.opt.Permalinks == DayName && !p.page {
		return s.base + p.date.In(s.opt.Location).Format("/2006/01/02/") + p.slug + "/"
	}
	return s.base + "/" + p.slug + "/"
}

func (s *Site) termURL(kind string, n int) string {
	if s.opt.Permalinks == Plain {
		switch kind {
		case kindCategory:
			return s.base + "/?cat=" + strconv.Itoa(n+1)
		case kindTag:
			return s.base + "/?tag=" + termSlug(kind, n)
		}
		return s.base + "/?author=" + strconv.Itoa(n+1)
	}
	switch kind {
	case kindCategory:
		return s.base + "/category/" + termSlug(kind, n) + "/"
	case kindTag:
		return s.base + "/tag/" + termSlug(kind, n) + "/"
	}
	return s.base + "/author/" + termSlug(kind, n) + "/"
}

func (s *Site) home() string { return s.base + "/" }

// entries gives file n (from 1) of a kind, nil when there is no such file.
func (s *Site) entries(kind string, n int) []entry {
	if n < 1 || n > s.files(kind) {
		return nil
	}
	from := (n - 1) * s.opt.perFile()
	var out []entry
	switch kind {
	case kindPost, kindPage:
		ids := s.order(kind == kindPage)
		ids = ids[min(from, len(ids)):min(from+s.opt.perFile(), len(ids))]
		out = make([]entry, 0, len(ids)+1)
		if kind == kindPage && n == 1 {
			out = append(out, entry{loc: s.home(), lastmod: s.newest()})
		}
		for _, id := range ids {
			p, _ := s.get(id)
			e := entry{loc: s.permalink(p), lastmod: p.modified}
			if p.image && s.opt.Layout != Core {
				e.image = s.base + "/wp-content/uploads/" + p.date.Format("2006/01/") + "picture-" + strconv.FormatUint(uint64(id), 10) + ".jpg"
			}
			out = append(out, e)
		}
	default:
		terms := s.terms(kind)
		terms = terms[min(from, len(terms)):min(from+s.opt.perFile(), len(terms))]
		out = make([]entry, 0, len(terms))
		for _, t := range terms {
			e := entry{loc: s.termURL(kind, t)}
			if s.opt.Layout != Core {
				s.newest()
				e.lastmod = s.derive().termMax[kind][t]
			}
			out = append(out, e)
		}
	}
	s.reorder(kind, n, out)
	return out
}

// reorder serves the entries of a file in another order; the home page too.
func (s *Site) reorder(kind string, n int, entries []entry) {
	if s.shuffle == 0 {
		return
	}
	h := mix(s.shuffle, uint64(n)*31+uint64(len(kind)))
	for i := len(entries) - 1; i > 0; i-- {
		h = mix(h, uint64(i))
		j := int(h % uint64(i+1))
		entries[i], entries[j] = entries[j], entries[i]
	}
}

// terms are the numbers of the terms that have published posts.
func (s *Site) terms(kind string) []int {
	var out []int
	for n, count := range s.counts[kind] {
		if count > 0 {
			out = append(out, n)
		}
	}
	return out
}

// files is how many files a kind has. The pages' first file always exists: it
// lists the home page, beyond the limit of a file as in WordPress.
func (s *Site) files(kind string) int {
	var count int
	switch kind {
	case kindPost:
		count = len(s.posts)
	case kindPage:
		count = max(1, len(s.pages))
	default:
		count = len(s.terms(kind))
	}
	return (count + s.opt.perFile() - 1) / s.opt.perFile()
}

var kinds = []string{kindPost, kindPage, kindCategory, kindTag, kindAuthor}

// stamp prints a lastmod as the layout does: core in the site's zone with its
// offset, the plugins in UTC.
func (s *Site) stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	if s.opt.Layout == Core {
		return t.In(s.opt.Location).Format("2006-01-02T15:04:05-07:00")
	}
	return t.UTC().Format("2006-01-02T15:04:05-07:00")
}

// Inventory is the oracle: every URL that the sitemaps list now, with its lastmod
// as printed, "" where none is.
func (s *Site) Inventory() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]string, len(s.posts)+len(s.pages)+64)
	for _, kind := range kinds {
		for n := range s.files(kind) {
			for _, e := range s.entries(kind, n+1) {
				out[e.loc] = s.stamp(e.lastmod)
			}
		}
	}
	return out
}

// Documents are the URLs of all sitemap files, the index first.
func (s *Site) Documents() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []string{s.base + s.indexPath()}
	for _, kind := range kinds {
		for n := range s.files(kind) {
			out = append(out, s.base+s.filePath(kind, n+1))
		}
	}
	return out
}

// Index is the URL of the sitemap index.
func (s *Site) Index() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.base + s.indexPath()
}

// URL is the site's base URL without a final slash.
func (s *Site) URL() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.base
}

// PostURL is the permalink of a post or page, public or not; "" when unknown.
func (s *Site) PostURL(id uint32) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if p, ok := s.get(id); ok {
		return s.permalink(p)
	}
	return ""
}
