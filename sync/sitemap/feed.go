package sitemap

import "bytes"

// isFeed tells whether a root element is that of RSS 2, RSS 1 or Atom.
func (r *Reader) isFeed(fam family, local []byte) bool {
	switch string(local) {
	case "rss":
		return fam != famCore
	case "rdf":
		return fam == famRDF || fam == famNone || fam == famForeign
	case "feed":
		return fam == famAtom || fam == famNone || fam == famForeign
	case "channel":
		return fam == famNone || fam == famRSS1
	}
	return false
}

// beginFeed opens the root of a feed.
func (r *Reader) beginFeed(local []byte) {
	switch string(local) {
	case "rdf":
		r.doc.Version = "rss 1.0"
	case "feed":
		r.doc.Version = "atom"
	default:
		r.doc.Version = "rss"
		if v := r.attr("version"); len(v) > 0 && len(v) < 20 {
			r.doc.Version = "rss " + string(v)
		}
	}
	r.doc.Type, r.doc.Root = Feed, string(r.tag.name)
	r.root, r.asFeed = true, true
	r.enter(inFeed)
}

// openInFeed deals with what stands in a feed outside of its items. A link there is the site's own, not a page's.
func (r *Reader) openInFeed(el element, pos int) {
	switch el {
	case elChannel:
		r.enter(inFeed)
	case elItem:
		r.begin(pos)
		r.enter(inItem)
	default:
		r.skipElement()
	}
}

// openInItem deals with what stands in an item or entry of a feed.
func (r *Reader) openInItem(fam family, el element) {
	e := &r.entry
	switch {
	case el == elFeedLink && fam == famAtom:
		rel := r.attr("rel")
		href := r.attr("href")
		own := len(rel) == 0 || bytes.EqualFold(rel, []byte("alternate"))
		pos := r.win.r
		r.skipElement()
		if own && !e.hasLoc && len(href) > 0 {
			e.hasLoc = true
			r.takeLoc(href, pos)
		}
	case el == elFeedLink && !e.hasLoc, el == elLoc && fam == famCore && !e.hasLoc:
		name, filled := r.enterLeaf()
		if !filled {
			return
		}
		r.readLoc(name)
	case el == elGUID && !e.hasLoc && len(e.bare) == 0:
		permalink := !bytes.EqualFold(r.attr("isPermaLink"), []byte("false"))
		if text := r.leafText(); permalink && bytes.HasPrefix(bytes.ToLower(text), []byte("http")) {
			e.bare = append(e.bare, bytes.ReplaceAll(text, []byte("&"), []byte("&amp;"))...)
		}
	case el == elUpdated, el == elLastmod && fam == famCore: // the better claim
		r.feedDate(true)
	case el == elPubDate, el == elDCDate:
		r.feedDate(false)
	case el == elChangefreq && fam == famCore, el == elPriority && fam == famCore:
		name, filled := r.enterLeaf()
		if !filled {
			return
		}
		if el == elPriority {
			r.readPriority(name)
		} else {
			r.readChangefreq(name)
		}
	default:
		r.skipElement()
	}
}

// feedDate reads a date of an item. When it was updated counts before when it was published.
func (r *Reader) feedDate(better bool) {
	e := &r.entry
	start := r.win.offset()
	text := r.leafText()
	if len(text) == 0 || e.hasLastmod && !better {
		return
	}
	l, form := parseDate(text)
	if form == dateNonstandard { // in a feed, RFC 822 is the standard
		form = dateW3C
	}
	e.lastmod, e.hasLastmod = l, better
	r.lastmodFindings(l, form, r.win.at(start))
}
