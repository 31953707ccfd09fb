package sitemap

import "bytes"

const nameSlots = 64

// nameSlot remembers what a name means as long as no binding changes.
type nameSlot struct {
	version uint32
	name    []byte
	fam     family
	el      element
}

// openTag deals with a start tag.
func (r *Reader) openTag() bool {
	w := &r.win
	if !r.readTag() {
		if w.eof {
			if len(r.stack) == 0 {
				r.report(codeXMLTruncated, w.r, w.buf[w.r:min(w.r+40, w.w)])
			}
			w.r = w.w
			return false
		}
		r.report(codeTokenLimit, w.r, w.buf[w.r:min(w.r+60, w.w)])
		w.r++
		return true
	}
	t := &r.tag
	pos := w.r
	if len(t.name) > r.opt.MaxName {
		r.report(codeAttributeLimit, pos, t.name[:60])
		t.name, t.colon = t.name[:r.opt.MaxName], -1
	}
	if t.tooMany {
		r.report(codeAttributeLimit, pos, w.buf[pos:pos+min(t.size, 60)])
	}
	if t.bad {
		r.report(codeAttributeMalformed, pos, w.buf[pos:pos+t.size])
	}
	depth := len(r.stack)
	for i := range t.attrs {
		if name := t.attrs[i].name; len(name) >= 5 && string(name[:5]) == "xmlns" {
			switch {
			case len(name) == 5:
				r.declare(nil, r.attributeValue(t.attrs[i].value), pos, depth+1)
			case name[5] == ':':
				r.declare(name[6:], r.attributeValue(t.attrs[i].value), pos, depth+1)
			}
		}
	}
	fam, el := r.resolve(pos)
	r.open(fam, el, pos)
	if len(r.stack) <= depth { // a leaf, or something that was not opened
		r.ns.leave(len(r.stack))
	}
	return !r.stopped && r.err == nil && r.doc.Reason == ""
}

// attributeValue decodes an attribute's value; it is valid until the next text is decoded.
func (r *Reader) attributeValue(raw []byte) []byte {
	r.entry.unexpanded = false
	if text := trim(r.cook(raw)); !r.entry.unexpanded {
		return text
	}
	return nil
}

// attr returns an attribute's decoded value, found by its local name, kept in the entry's memory.
func (r *Reader) attr(name string) []byte {
	for _, a := range r.tag.attrs {
		local := a.name
		if string(local) != name {
			if i := bytes.IndexByte(local, ':'); i < 0 || string(local[i+1:]) != name {
				continue
			}
		}
		if v := fold(r.attributeValue(a.value)); len(v) > 0 {
			return r.memory.keep(v)
		}
		return nil
	}
	return nil
}

// resolve finds out what the tag's name means.
func (r *Reader) resolve(pos int) (family, element) {
	name := r.tag.name
	slot := &r.cache[(len(name)*7+int(name[0])*3+int(name[len(name)-1])*5+int(name[len(name)/2]))%nameSlots]
	if slot.version == r.ns.version && string(slot.name) == string(name) {
		return slot.fam, slot.el
	}
	fam, undeclared := r.familyOf(r.tag.prefix())
	el := elementOf(r.contextual(fam), r.tag.local())
	odd := undeclared
	if undeclared {
		r.report(codePrefixUndeclared, pos, name)
	}
	if el == elUnknown && fam != famForeign && fam != famWrong {
		if lower := bytes.ToLower(r.tag.local()); !bytes.Equal(lower, r.tag.local()) {
			if el = elementOf(r.contextual(fam), lower); el != elUnknown {
				odd = true
				r.report(codeTagCase, pos, name)
			}
		}
	}
	if !odd { // oddities are reported each time, so they are not remembered
		slot.version, slot.fam, slot.el = r.ns.version, fam, el
		slot.name = append(slot.name[:0], name...)
	}
	return fam, el
}

// contextual maps "no namespace" to the vocabulary of the document.
func (r *Reader) contextual(fam family) family {
	if fam != famNone {
		return fam
	}
	if r.asFeed {
		return famRSS1
	}
	return famCore
}

// familyOf finds the family of a prefix; undeclared prefixes mean what they usually do.
func (r *Reader) familyOf(prefix []byte) (fam family, undeclared bool) {
	fam, ok := r.ns.lookup(prefix)
	switch {
	case ok:
		return fam, false
	case len(prefix) == 0:
		return famNone, false
	case string(prefix) == "xml":
		return famContent, false
	}
	return usualFamily(bytes.ToLower(prefix)), true
}

// open deals with the start tag in r.tag, which is not consumed yet, by where it stands.
func (r *Reader) open(fam family, el element, pos int) {
	switch ctx := r.context(); ctx {
	case inProlog:
		r.openRoot(fam, el, pos)
	case inEpilog:
		r.openAfter(el, pos)
	case inSet, inIndex:
		r.openListed(ctx, fam, el, pos)
	case inEntry, inChild:
		r.openInEntry(ctx, fam, el, pos)
	case inFeed:
		r.openInFeed(el, pos)
	case inItem:
		r.openInItem(fam, el)
	case inImage:
		r.openInImage(fam, el, pos)
	case inVideo, inTVShow:
		r.openInVideo(ctx, fam, el, pos)
	case inNews, inPublication:
		r.openInNews(ctx, fam, el, pos)
	case inPageMap, inDataObject:
		r.openInPageMap(ctx, fam, el, pos)
	default:
		r.skipElement()
	}
}

// enter consumes the tag and opens the element.
func (r *Reader) enter(ctx context) {
	empty := r.tag.selfClose
	ok := r.push(ctx, r.tag.name)
	r.win.r += r.tag.size
	if ok && empty {
		r.pop()
	}
}

// skipElement consumes the tag and opens the element as one that says nothing.
func (r *Reader) skipElement() { r.enter(inSkipped) }

// skipTag consumes the tag without opening anything.
func (r *Reader) skipTag() { r.win.r += r.tag.size }

// enterLeaf consumes the tag of a leaf and returns the name that its end tag must have; false when the leaf is empty.
func (r *Reader) enterLeaf() ([]byte, bool) {
	r.leaf = append(r.leaf[:0], r.tag.name...)
	r.win.r += r.tag.size
	return r.leaf, !r.tag.selfClose
}

// leafText consumes a leaf and returns its text, kept in the entry's memory; nil when it is empty.
func (r *Reader) leafText() []byte {
	name, filled := r.enterLeaf()
	if !filled {
		return nil
	}
	text := r.readText(name)
	if r.entry.unexpanded {
		return nil
	}
	if len(text) == 0 {
		return nil
	}
	return r.memory.keep(text)
}

// openListed deals with what stands in a urlset or sitemapindex.
func (r *Reader) openListed(ctx context, fam family, el element, pos int) {
	switch el {
	case elURL:
		if ctx == inIndex {
			r.report(codeURLInIndex, pos, nil)
		}
		r.begin(pos)
		r.enter(inEntry)
	case elSitemap:
		if ctx == inSet {
			r.report(codeSitemapInURLSet, pos, nil)
		}
		r.begin(pos)
		r.enter(inChild)
	case elURLSet:
		r.report(codeNestedRoot, pos, r.tag.name)
		r.enter(inSet)
	case elSitemapIndex:
		r.report(codeNestedRoot, pos, r.tag.name)
		r.enter(inIndex)
	case elLoc:
		r.looseLoc(ctx, pos)
	case elImage, elVideo, elNews, elMobile, elLink, elPageMap:
		r.report(codeExtensionMisplaced, pos, r.tag.name)
		r.skipElement()
	case elLastmod, elChangefreq, elPriority:
		r.report(codeElementUnknown, pos, r.tag.name)
		r.skipElement()
	default:
		if fam == famCore || fam == famNone {
			r.report(codeElementUnknown, pos, r.tag.name)
			r.enter(ctx) // a wrapper: what it holds counts
			return
		}
		r.skipElement()
	}
}

// looseLoc reads a loc that stands outside of an entry as an entry of its own.
func (r *Reader) looseLoc(ctx context, pos int) {
	r.report(codeLocOutsideEntry, pos, nil)
	r.begin(pos)
	if name, filled := r.enterLeaf(); filled {
		r.readLoc(name)
	}
	if r.entry.cut {
		return
	}
	if ctx == inIndex {
		r.finishChild()
	} else {
		r.finishEntry()
	}
}

// openInEntry deals with what stands in an entry of a urlset or index.
func (r *Reader) openInEntry(ctx context, fam family, el element, pos int) {
	switch el {
	case elLoc, elLastmod, elChangefreq, elPriority:
		name, filled := r.enterLeaf()
		if !filled {
			r.emptyLeaf(el, pos)
			return
		}
		switch el {
		case elLoc:
			r.readLoc(name)
		case elLastmod:
			r.readLastmod(name)
		case elChangefreq:
			r.readChangefreq(name)
		default:
			r.readPriority(name)
		}
	case elURL, elSitemap, elURLSet, elSitemapIndex:
		r.report(codeEntryNotClosed, pos, nil)
		for c := r.context(); c == inEntry || c == inChild; c = r.context() {
			r.pop()
		}
		if r.err == nil {
			r.open(fam, el, pos)
		}
	case elImage, elVideo, elNews, elLink, elMobile, elPageMap:
		if ctx == inChild {
			r.report(codeExtensionMisplaced, pos, r.tag.name)
			r.skipElement()
			return
		}
		r.openBlock(el, pos)
	default:
		switch {
		case fam == famWrong:
			r.report(codeExtensionNamespaceInvalid, pos, r.tag.name)
		case fam == famCore, fam == famNone:
			r.report(codeElementUnknown, pos, r.tag.name)
		case fam >= famImage && fam <= famPageMap:
			r.report(codeExtensionMisplaced, pos, r.tag.name)
		}
		r.skipElement()
	}
}

// emptyLeaf deals with <loc/> and the like.
func (r *Reader) emptyLeaf(el element, pos int) {
	if el == elLoc {
		r.entry.hasLoc = true
		r.entry.refused = true
		r.report(codeLocEmpty, pos, nil)
	}
}

// openBlock opens an extension block of an entry.
func (r *Reader) openBlock(el element, pos int) {
	switch el {
	case elImage:
		r.extension(extImage)
		r.beginImage(pos)
	case elVideo:
		r.extension(extVideo)
		r.beginVideo(pos)
	case elNews:
		r.extension(extNews)
		r.beginNews(pos)
	case elLink:
		r.extension(extXHTML)
		r.readAlternate(pos)
	case elMobile:
		r.extension(extMobile)
		if r.d.Mobile != nil {
			r.report(codeElementRepeated, pos, r.tag.name)
			r.skipElement()
			return
		}
		r.entry.mobile = Mobile{Type: r.attr("type")}
		r.canon = appendMobile(r.canon[:0], &r.entry.mobile)
		r.entry.blocks.sum.add(r.canon, nil)
		r.d.Mobile = &r.entry.mobile
		r.skipElement()
	case elPageMap:
		r.extension(extPageMap)
		r.enter(inPageMap)
	}
}
