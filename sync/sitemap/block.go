package sitemap

import (
	"bytes"

	"github.com/sitemapd/sitemapd/sync/weburl"
)

// The extension families as Document.Extensions names them.
const (
	extImage   = "image"
	extVideo   = "video"
	extNews    = "news"
	extXHTML   = "xhtml"
	extMobile  = "mobile"
	extPageMap = "pagemap"
)

// blocks holds the memory of an entry's extension blocks between entries.
type blocks struct {
	images     []Image
	videos     []Video
	alternates []Alternate
	objects    []DataObject
	image      *Image // that is open
	video      *Video
	// Whether an alternate has more than hreflang and href, an image more than loc. Elements of the two slices behind
	// their length are zero but for these fields, which the quick way relies on.
	richAlternate, richImage bool

	identity []byte   // of the open image's loc
	sum      blockSum // of the blocks that were read
}

func (b *blocks) reset() {
	if b.richAlternate {
		clear(b.alternates)
	}
	if b.richImage {
		clear(b.images)
	}
	b.richAlternate, b.richImage = false, false
	b.images, b.videos, b.alternates, b.objects = b.images[:0], b.videos[:0], b.alternates[:0], b.objects[:0]
	b.image, b.video, b.identity, b.sum = nil, nil, nil, 0
}

func (r *Reader) extension(name string) {
	for _, have := range r.doc.Extensions {
		if have == name {
			return
		}
	}
	r.doc.Extensions = append(r.doc.Extensions, name)
}

// blockURL makes an address of an extension block absolute; nil when it cannot be one, which is reported.
func (r *Reader) blockURL(text []byte, pos int) (wire, identity []byte) {
	if len(text) == 0 {
		return nil, nil
	}
	u, problem := r.urls.Parse(r.baseURL(), text)
	if problem != weburl.None {
		r.report(codeExtensionURL, pos, text)
		return nil, nil
	}
	if u.Notes&(weburl.NoteRelative|weburl.NoteSchemeMissing) != 0 {
		r.report(codeExtensionURLRelative, pos, text)
	}
	wire = r.memory.keep(u.Wire)
	if bytes.Equal(u.Wire, u.Identity) {
		return wire, wire
	}
	return wire, r.memory.keep(u.Identity)
}

// leafURL consumes a leaf that holds an address.
func (r *Reader) leafURL() (wire, identity []byte) {
	start := r.win.offset()
	name, filled := r.enterLeaf()
	if !filled {
		return nil, nil
	}
	text, cooked := r.readValue(name)
	if !cooked {
		if bytes.IndexByte(text, '&') < 0 {
			if u, problem := r.urls.Fast(r.baseURL(), text); problem == weburl.None {
				wire = r.memory.keep(u.Wire)
				return wire, wire
			}
		}
		text = r.cook(text)
	}
	if r.entry.unexpanded {
		return nil, nil
	}
	return r.blockURL(text, r.win.at(start))
}

// attrURL returns an attribute that holds an address.
func (r *Reader) attrURL(name string, pos int) (wire, identity []byte) {
	for _, a := range r.tag.attrs {
		if string(a.name) == name {
			if bytes.IndexByte(a.value, '&') < 0 {
				if u, problem := r.urls.Fast(r.baseURL(), a.value); problem == weburl.None {
					wire = r.memory.keep(u.Wire)
					return wire, wire
				}
			}
			return r.blockURL(r.attributeValue(a.value), pos)
		}
	}
	return nil, nil
}

// inBlock maps an element without a prefix to the vocabulary of the block that it stands in.
func (r *Reader) inBlock(fam, want family, el element, pos int) element {
	if fam == want {
		return el
	}
	if fam == famNone || fam == famCore {
		if own := elementOf(want, r.tag.local()); own != elUnknown {
			r.report(codePrefixMissing, pos, r.tag.name)
			return own
		}
		r.report(codeElementUnknown, pos, r.tag.name)
	} else if fam == famWrong {
		r.report(codeExtensionNamespaceInvalid, pos, r.tag.name)
	}
	return elUnknown
}

// readAlternate reads an xhtml:link.
func (r *Reader) readAlternate(pos int) {
	b := &r.entry.blocks
	if len(b.alternates) >= r.opt.MaxAlternates {
		r.report(codeBlockLimit, pos, nil)
		r.skipElement()
		return
	}
	var a Alternate
	for _, at := range r.tag.attrs {
		switch string(at.name) {
		case "hreflang":
			a.Hreflang = r.keepAttribute(at.value)
		case "rel":
			if string(at.value) != "alternate" {
				a.Rel = r.keepAttribute(at.value)
			}
		case "media":
			a.Media = r.keepAttribute(at.value)
		case "type":
			a.Type = r.keepAttribute(at.value)
		}
	}
	href, identity := r.attrURL("href", pos)
	a.Href = href
	switch {
	case len(a.Href) == 0:
		r.report(codeAlternateHref, pos, r.win.buf[pos:pos+min(r.tag.size, 160)])
	case len(a.Hreflang) == 0 && len(a.Media) == 0:
		r.report(codeAlternateHreflang, pos, a.Href)
	case len(a.Hreflang) > 0 && !languageTag(a.Hreflang):
		r.report(codeAlternateLanguage, pos, a.Hreflang)
	}
	if len(a.Rel) > 0 {
		r.report(codeAlternateRel, pos, a.Rel)
	}
	if len(a.Href) > 0 {
		b.alternates = append(b.alternates, a)
		b.richAlternate = b.richAlternate || len(a.Media)+len(a.Rel)+len(a.Type) > 0
		r.d.Alternates = b.alternates
		r.canon = appendAlternate(r.canon[:0], &a)
		b.sum.add(r.canon, identity)
	}
	r.skipElement()
}

func (r *Reader) keepAttribute(raw []byte) []byte {
	if v := fold(r.attributeValue(raw)); len(v) > 0 {
		return r.memory.keep(v)
	}
	return nil
}

// languageTag tells whether a text has the shape that hreflang wants: a language of two or three letters, then a
// script, a region and a variant, or x-default.
func languageTag(b []byte) bool {
	if len(b) == 2 {
		return isLetter(b[0]) && isLetter(b[1])
	}
	if len(b) > 35 {
		return false
	}
	if bytes.EqualFold(b, []byte("x-default")) {
		return true
	}
	subtag, size := 0, 0
	for i := 0; i <= len(b); i++ {
		if i == len(b) || b[i] == '-' {
			if size < 2 || size > 8 || subtag == 0 && size > 3 {
				return false
			}
			subtag, size = subtag+1, 0
			continue
		}
		if !isLetter(b[i]) && (subtag == 0 || b[i] < '0' || b[i] > '9') {
			return false
		}
		size++
	}
	return subtag <= 4
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// checkAlternates judges an entry's alternates together.
func (r *Reader) checkAlternates() {
	as := r.d.Alternates
	self, languages := false, false
	for i := range as {
		if len(as[i].Hreflang) == 0 {
			continue
		}
		languages = true
		for _, l := range r.entry.locs {
			self = self || bytes.Equal(as[i].Href, l.wire)
		}
		if i >= 64 { // a page in more languages is not compared pair by pair
			continue
		}
		for j := range i {
			if len(as[i].Hreflang) == len(as[j].Hreflang) && bytes.EqualFold(as[i].Hreflang, as[j].Hreflang) &&
				!bytes.Equal(as[i].Href, as[j].Href) {
				r.reportAt(codeAlternateDuplicate, r.entry.at, as[i].Hreflang)
				break
			}
		}
	}
	if languages && !self {
		r.reportAt(codeAlternateNoSelf, r.entry.at, r.entry.locs[0].wire)
	}
}
