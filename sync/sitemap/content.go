package sitemap

import "bytes"

// content finds out what the text is, and reads it.
func (r *Reader) content(m Meta) {
	w := &r.win
	for {
		for w.r < w.w && (kind[w.buf[w.r]]&isBlank != 0 || w.buf[w.r] == 0) {
			w.r++
		}
		if w.r < w.w || !w.fill() {
			break
		}
	}
	if w.r == w.w {
		if r.wire.err == nil && r.layerErr() == nil {
			r.reportDoc(codeBodyEmpty, "")
			r.doc.Reason = catalogue[codeBodyEmpty].Meaning
		}
		return
	}
	// A byte order mark that was encoded twice, or stands behind white space.
	for w.hasPrefix("\ufeff") {
		r.report(codeBOM, w.r, nil)
		w.r += 3
	}
	if !w.need(1) {
		return
	}
	if w.buf[w.r] == '<' {
		r.markup()
		return
	}
	w.need(min(r.opt.MaxProlog, windowSize))
	head := w.buf[w.r:w.w]
	if looksLikeList(head) {
		r.list()
		return
	}
	if at := markupStart(head[:min(len(head), r.opt.MaxProlog)]); at >= 0 {
		r.notBegun = true
		r.reportJunk(codeOutputBefore, w.r)
		w.r += at
		r.markup()
		return
	}
	r.somethingElse(head)
}

// markup reads a document that begins with a tag.
func (r *Reader) markup() {
	r.scan()
	if r.root || r.doc.Reason != "" || r.err != nil || r.stopped {
		return
	}
	if r.wire.err != nil || r.layerErr() != nil {
		return
	}
	if r.found.has(codeXMLTruncated) {
		return
	}
	c := codeRootMissing
	if r.htmlTags > 0 {
		c = codeBodyHTML
	}
	r.reportDoc(c, "")
	r.doc.Reason = catalogue[c].Meaning
}

func (r *Reader) layerErr() error {
	for i := range r.doc.Layers {
		if err := r.layers[i].err; err != nil {
			return err
		}
	}
	return nil
}

// markupStart finds where a document begins behind other output: at its declaration or at a root element.
func markupStart(head []byte) int {
	best := -1
	for _, mark := range []string{"<?xml", "<urlset", "<sitemapindex", "<rss", "<feed", "<!DOCTYPE", "<!doctype", "<html"} {
		if i := bytes.Index(head, []byte(mark)); i >= 0 && (best < 0 || i < best) {
			best = i
		}
	}
	if i := bytes.Index(head, []byte(":urlset")); i >= 0 && best < 0 {
		return bytes.LastIndexByte(head[:i], '<')
	}
	return best
}

// somethingElse names what came when it was neither markup nor a list.
func (r *Reader) somethingElse(head []byte) {
	c := codeBodyText
	lower := bytes.ToLower(head[:min(len(head), 4096)])
	switch {
	case head[0] == '{' || head[0] == '[':
		c = codeBodyJSON
	case !readable(head[:min(len(head), 512)]), bytes.HasPrefix(head, []byte("%PDF-")):
		c = codeBodyBinary
	case bytes.Contains(lower, []byte("user-agent:")) || bytes.HasPrefix(lower, []byte("sitemap:")):
		c = codeRobotsTxt
	case isChallenge(lower):
		c = codeBodyChallenge
	case bytes.Contains(lower, []byte("</")):
		c = codeBodyHTML
	}
	r.notASitemap(c, r.win.r)
}
