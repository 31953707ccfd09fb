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
	image      *Image
	video      *Video
	show       bool
	over       bool
}

func (b *blocks) reset() {
	b.images, b.videos, b.alternates, b.objects = b.images[:0], b.videos[:0], b.alternates[:0], b.objects[:0]
	b.image, b.video = nil, nil
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
func (r *Reader) blockURL(text []byte, pos int) []byte {
	if len(text) == 0 {
		return nil
	}
	u, problem := r.urls.Parse(r.baseURL(), text)
	if problem != weburl.None {
		r.report(codeExtensionURL, pos, text)
		return nil
	}
	if u.Notes&(weburl.NoteRelative|weburl.NoteSchemeMissing) != 0 {
		r.report(codeExtensionURLRelative, pos, text)
	}
	return r.memory.keep(u.Wire)
}

// leafURL consumes a leaf that holds an address.
func (r *Reader) leafURL() []byte {
	start := r.win.offset()
	name, filled := r.enterLeaf()
	if !filled {
		return nil
	}
	text, cooked := r.readValue(name)
	if !cooked {
		if bytes.IndexByte(text, '&') >= 0 {
			text = r.cook(text)
		} else if u, problem := r.urls.Fast(r.baseURL(), text); problem == weburl.None {
			return r.memory.keep(u.Wire)
		} else {
			text = r.cook(text)
		}
	}
	if r.entry.unexpanded {
		r.entry.unexpanded = false
		return nil
	}
	return r.blockURL(text, r.win.at(start))
}

// attrURL returns an attribute that holds an address.
func (r *Reader) attrURL(name string, pos int) []byte {
	for _, a := range r.tag.attrs {
		if string(a.name) == name {
			if bytes.IndexByte(a.value, '&') < 0 {
				if u, problem := r.urls.Fast(r.baseURL(), a.value); problem == weburl.None {
					return r.memory.keep(u.Wire)
				}
			}
			return r.blockURL(r.attributeValue(a.value), pos)
		}
	}
	return nil
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
	a.Href = r.attrURL("href", pos)
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
		r.d.Alternates = b.alternates
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
// script and a region, or x-default.
func languageTag(b []byte) bool {
	if len(b) == 2 && isLetter(b[0]) && isLetter(b[1]) {
		return true
	}
	if bytes.EqualFold(b, []byte("x-default")) {
		return true
	}
	parts := bytes.Split(b, []byte("-"))
	for i, p := range parts {
		for _, c := range p {
			if !isLetter(c) && (i == 0 || c < '0' || c > '9') {
				return false
			}
		}
		if n := len(p); i == 0 && (n < 2 || n > 3) || n < 2 || n > 8 {
			return false
		}
	}
	return len(parts) <= 4
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
			if bytes.EqualFold(as[i].Hreflang, as[j].Hreflang) && !bytes.Equal(as[i].Href, as[j].Href) {
				r.reportAt(codeAlternateDuplicate, r.entry.at, as[i].Hreflang)
				break
			}
		}
	}
	if languages && !self {
		r.reportAt(codeAlternateNoSelf, r.entry.at, r.entry.locs[0].wire)
	}
}
