package sitemap

import (
	"bytes"
	"unicode/utf8"
)

// context is what the innermost open element is.
type context uint8

const (
	inProlog context = iota // before the root
	inSet                   // urlset, or a wrapper inside it
	inIndex                 // sitemapindex
	inEntry                 // url
	inChild                 // sitemap
	inImage
	inVideo
	inTVShow
	inNews
	inPublication
	inPageMap
	inDataObject
	inFeed    // rss, channel, feed, RDF
	inItem    // item, entry
	inSkipped // an element that says nothing to us
	inEpilog  // after the root
)

// entryDepth is how deep elements are nested in an entry: url, news:news, news:publication.
const entryDepth = 3

// frame is one open element.
type frame struct {
	ctx  context
	name int // where its name begins in Reader.names
}

func (r *Reader) context() context {
	if n := len(r.stack); n > 0 {
		return r.stack[n-1].ctx
	}
	if r.rootEnd {
		return inEpilog
	}
	return inProlog
}

func (r *Reader) topName() []byte { return r.names[r.stack[len(r.stack)-1].name:] }

// push opens an element; false means that the limit of depth was reached.
func (r *Reader) push(ctx context, name []byte) bool {
	if len(r.stack) >= r.opt.MaxDepth {
		r.report(codeDepthLimit, r.win.r, nil)
		r.stopped = true
		return false
	}
	r.stack = append(r.stack, frame{ctx, len(r.names)})
	r.names = append(r.names, name...)
	return true
}

// pop closes the innermost element and finishes what it held.
func (r *Reader) pop() {
	top := r.stack[len(r.stack)-1]
	r.stack = r.stack[:len(r.stack)-1]
	r.names = r.names[:top.name]
	r.ns.leave(len(r.stack))
	switch top.ctx {
	case inEntry, inItem:
		r.finishEntry()
	case inChild:
		r.finishChild()
	case inImage:
		r.finishImage()
	case inVideo:
		r.finishVideo()
	case inNews:
		r.finishNews()
	}
	if len(r.stack) == 0 {
		r.rootEnd = true
	}
}

// scan reads the document to its end, a limit, or the visitor's error.
func (r *Reader) scan() {
	for r.err == nil && !r.stopped && r.step() {
		if r.tokens++; r.tokens > r.opt.MaxTokens {
			r.report(codeTagLimit, r.win.r, nil)
			r.stopped = true
		}
	}
	if r.err == nil && !r.stopped && len(r.stack) > 0 {
		r.report(codeXMLTruncated, r.win.r, nil)
	}
}

// step reads one token and what belongs to it; false at the end of the document.
func (r *Reader) step() bool {
	w := &r.win
	for {
		for w.r < w.w && kind[w.buf[w.r]]&isBlank != 0 {
			w.r++
		}
		if w.r < w.w {
			break
		}
		if !w.fill() {
			return false
		}
	}
	if w.buf[w.r] != '<' {
		return r.looseText()
	}
	if w.w-w.r >= 16 && r.shortcut(w.buf[w.r:w.w]) {
		return true
	}
	if !w.need(2) {
		return false
	}
	switch c := w.buf[w.r+1]; {
	case c == '/':
		return r.closeTag()
	case c == '!':
		return r.bang()
	case c == '?':
		return r.instruction()
	case kind[c]&startsTag != 0:
		return r.openTag()
	}
	r.report(codeTagMalformed, w.r, w.buf[w.r:min(w.r+20, w.w)])
	w.r++
	return true
}

var (
	nameURL        = []byte("url")
	nameLoc        = []byte("loc")
	nameLastmod    = []byte("lastmod")
	nameChangefreq = []byte("changefreq")
	namePriority   = []byte("priority")
)

// shortcut handles the tags that make up nearly all of a plain document, when they stand there to the letter. It does
// nothing that the long way would not do as well.
func (r *Reader) shortcut(b []byte) bool {
	// Where an entry and what is in it may reach the limit of depth, the long way finds out.
	if len(r.stack) == 0 || r.longWay || len(r.stack)+entryDepth > r.opt.MaxDepth {
		return false
	}
	if r.plainFor != r.ns.version {
		fam, ok := r.ns.lookup(nil)
		r.plain = (!ok || fam == famCore || fam == famNone) && !r.asFeed
		r.plainFor = r.ns.version
	}
	if !r.plain {
		return false
	}
	switch r.stack[len(r.stack)-1].ctx {
	case inSet:
		if string(b[:5]) == "<url>" {
			if r.hasBase && r.quick() {
				return true
			}
			r.begin(r.win.r)
			r.win.r += 5
			return r.push(inEntry, nameURL)
		}
	case inEntry, inChild:
		switch {
		case string(b[:5]) == "<loc>":
			r.win.r += 5
			r.readLoc(nameLoc)
		case string(b[:9]) == "<lastmod>":
			r.win.r += 9
			r.readLastmod(nameLastmod)
		case string(b[:6]) == "</url>" && string(r.topName()) == "url":
			r.win.r += 6
			r.pop()
		case string(b[:12]) == "<changefreq>":
			r.win.r += 12
			r.readChangefreq(nameChangefreq)
		case string(b[:10]) == "<priority>":
			r.win.r += 10
			r.readPriority(namePriority)
		default:
			return r.quickBlock(b)
		}
		return true
	}
	return false
}

// looseText deals with text between elements.
func (r *Reader) looseText() bool {
	w := &r.win
	ctx := r.context()
	bare := (ctx == inEntry || ctx == inChild) && !r.entry.hasLoc
	for {
		i := bytes.IndexByte(w.buf[w.r:w.w], '<')
		end := w.r + i
		if i < 0 {
			end = w.w
		}
		text := w.buf[w.r:end]
		switch {
		case len(bytes.TrimSpace(text)) == 0:
		case bare:
			if len(r.entry.bare) < 2*r.opt.WarnLoc {
				r.entry.bare = append(r.entry.bare, text...)
			}
		case ctx == inProlog:
			r.notBegun = true
			r.reportJunk(codeOutputBefore, w.r)
		case ctx == inEpilog:
			r.reportJunk(codeJunkAfterRoot, w.r)
		case ctx != inSkipped:
			r.report(codeTextUnexpected, w.r, text)
		}
		w.r = end
		if i >= 0 {
			return true
		}
		if !w.fill() {
			return false
		}
		if ctx == inProlog && w.base+int64(w.r) > int64(r.opt.MaxProlog) {
			return false
		}
	}
}

// closeTag deals with an end tag: it closes the element that it names and all that is open inside that.
func (r *Reader) closeTag() bool {
	w := &r.win
	name, size := r.endTag()
	if size == 0 {
		w.r = w.w
		return false
	}
	pos := w.r
	at := -1
	for i, end := len(r.stack)-1, len(r.names); i >= 0; i-- {
		open := r.names[r.stack[i].name:end]
		if bytes.Equal(open, name) || bytes.EqualFold(open, name) {
			at = i
			break
		}
		end = r.stack[i].name
	}
	if at < 0 {
		switch ctx := r.context(); {
		case ctx == inEpilog:
			r.reportJunk(codeJunkAfterRoot, pos)
		case ctx == inProlog:
			r.notBegun = true
			r.htmlTags++
			r.reportJunk(codeOutputBefore, pos)
		default:
			r.report(codeTagMismatch, pos, w.buf[pos:pos+size])
		}
		w.r += size
		return true
	}
	if at < len(r.stack)-1 {
		r.report(codeTagMismatch, pos, w.buf[pos:pos+size])
	} else if !bytes.Equal(r.topName(), name) {
		r.report(codeTagCase, pos, name)
	}
	w.r += size
	for len(r.stack) > at {
		r.pop()
	}
	return true
}

// bang deals with comments, CDATA between elements, and the DOCTYPE.
func (r *Reader) bang() bool {
	w := &r.win
	switch {
	case w.hasPrefix("<!--"):
		r.comment()
		w.r += 4
		return w.skipPast("-->") || r.cutInProlog()
	case w.hasPrefix("<![CDATA["):
		ctx := r.context()
		if (ctx == inEntry || ctx == inChild) && !r.entry.hasLoc {
			return r.bareCDATA()
		}
		if ctx != inSkipped {
			r.report(codeTextUnexpected, w.r, w.buf[w.r:min(w.r+60, w.w)])
		}
		w.r += 9
		return w.skipPast("]]>")
	}
	if !w.need(9) || !bytes.EqualFold(w.buf[w.r:w.r+9], []byte("<!DOCTYPE")) {
		r.report(codeTagMalformed, w.r, w.buf[w.r:min(w.r+40, w.w)])
		w.r += 2
		return w.skipPast(">")
	}
	return r.doctype()
}

// bareCDATA takes CDATA that stands in an entry without a loc element.
func (r *Reader) bareCDATA() bool {
	w := &r.win
	w.need(r.opt.WarnLoc)
	text := w.buf[w.r+9 : w.w]
	if i := bytes.Index(text, []byte("]]>")); i >= 0 {
		text = text[:i]
	}
	if len(text) <= 2*r.opt.WarnLoc {
		for _, c := range text { // references are not decoded in CDATA
			if c == '&' {
				r.entry.bare = append(r.entry.bare, "&amp;"...)
			} else {
				r.entry.bare = append(r.entry.bare, c)
			}
		}
	}
	w.r += 9
	return w.skipPast("]]>")
}

// comment notes what a comment says about the generator, and where it stands.
func (r *Reader) comment() {
	w := &r.win
	ctx := r.context()
	if ctx == inProlog && !r.gen.declaration {
		r.gen.commentFirst = place{1, 0}
		r.gen.hasCommentFirst = true
	}
	if r.gen.comments++; r.gen.comments > 64 && ctx != inEpilog || r.gen.comments > 1024 {
		return
	}
	w.need(512)
	text := w.buf[w.r:min(w.r+512, w.w)]
	if i := bytes.Index(text, []byte("-->")); i >= 0 {
		if text = text[:i]; !utf8.Valid(text) {
			r.report(codeInvalidUTF8, w.r, text)
		}
	}
	r.gen.see(text)
}

// instruction deals with processing instructions, the XML declaration among them.
func (r *Reader) instruction() bool {
	w := &r.win
	w.need(1024)
	text := w.buf[w.r:min(w.r+1024, w.w)]
	if i := bytes.Index(text, []byte("?>")); i >= 0 {
		text = text[:i]
	}
	if len(text) > 5 && kind[text[5]]&isBlank != 0 && bytes.EqualFold(text[:5], []byte("<?xml")) {
		if text[2] != 'x' {
			r.report(codeDeclarationMalformed, w.r, text)
		}
		r.xmlDeclaration(text)
	} else {
		r.gen.see(text)
	}
	if bytes.HasPrefix(text, []byte("<?xml version=")) && bytes.Contains(text, []byte("\">\n<")) { // the "?" is missing
		r.report(codeDeclarationMalformed, w.r, text[:bytes.IndexByte(text, '>')+1])
		return w.skipPast(">")
	}
	w.r += 2
	return w.skipPast("?>") || r.cutInProlog()
}

// xmlDeclaration reports what is wrong with the declaration's place.
func (r *Reader) xmlDeclaration(text []byte) {
	w := &r.win
	pos := w.r
	switch {
	case r.context() == inEpilog:
		r.reportJunk(codeJunkAfterRoot, pos)
	case len(r.stack) > 0 || r.gen.declaration:
		r.report(codeDeclarationMalformed, pos, text)
	case r.gen.hasCommentFirst:
		r.reportAt(codeCommentBefore, r.gen.commentFirst, nil)
	case !r.notBegun && w.base+int64(pos) > 0:
		r.reportAt(codeLeadingSpace, place{1, 0}, nil)
	}
	if !bytes.Contains(text, []byte("version")) {
		r.report(codeDeclarationMalformed, pos, text)
	}
	r.gen.declaration = true
}
