package sitemap

import "bytes"

// openRoot deals with a start tag before any root was found.
func (r *Reader) openRoot(fam family, el element, pos int) {
	w := &r.win
	local := bytes.ToLower(r.tag.local())
	if r.isFeed(fam, local) {
		r.beginFeed(local)
		return
	}
	switch root := coreElement(local); root {
	case elURLSet, elSitemapIndex: // whatever namespace it is in
		if el != root && !bytes.Equal(local, r.tag.local()) {
			r.report(codeTagCase, pos, r.tag.name)
		}
		r.beginRoot(fam, root, pos)
		return
	}
	if w.base+int64(pos) > int64(r.opt.MaxProlog) {
		r.notASitemap(codeBodyHTML, pos)
		return
	}
	switch string(local) {
	case "html", "head", "body", "title", "frameset":
		r.notASitemap(codeBodyHTML, pos)
	case "br", "b", "p", "div", "span", "pre", "font", "table", "tr", "td", "th", "tbody", "thead", "strong", "em", "i",
		"a", "script", "style", "link", "meta", "hr", "h1", "h2", "h3", "u", "code", "small", "ul", "li", "ol", "img",
		"center", "section", "noscript", "iframe", "input", "form":
		// What PHP and plugins print before the document.
		r.notBegun = true
		r.htmlTags++
		r.reportJunk(codeOutputBefore, pos)
		r.skipTag()
		r.ns.leave(0)
	case "error", "errors":
		r.errorDocument(pos)
	default:
		r.doc.Root = string(r.tag.name)
		r.notASitemap(codeRootUnknown, pos)
	}
}

// errorDocument deals with an error message in XML; Jetpack's says that it is still building.
func (r *Reader) errorDocument(pos int) {
	w := &r.win
	w.need(2048)
	text := bytes.ToLower(w.buf[w.r:min(w.r+2048, w.w)])
	r.doc.Root = string(r.tag.name)
	if bytes.Contains(text, []byte("no sitemap found")) || bytes.Contains(text, []byte("will try to build it")) {
		r.report(codeJetpackBuilding, w.r, nil)
		r.gen.name = "jetpack"
	}
	r.notASitemap(codeErrorDocument, w.r)
}

// notASitemap ends the reading of a document that is something else.
func (r *Reader) notASitemap(c code, pos int) {
	w := &r.win
	excerpt := w.buf[pos:min(pos+160, w.w)]
	if c == codeBodyHTML {
		at := w.base + int64(pos)
		w.need(16 << 10) // moves what pos points to
		if start := int(at - w.base); start >= 0 && start <= w.w {
			pos = start
		} else {
			pos = w.r
		}
		excerpt = w.buf[pos:min(pos+160, w.w)]
		if isChallenge(w.buf[w.r:w.w]) {
			c = codeBodyChallenge
		}
	}
	r.report(c, pos, excerpt)
	r.doc.Reason = catalogue[c].Meaning
}

// isChallenge tells whether a page is a login form or a robot check.
func isChallenge(page []byte) bool {
	page = bytes.ToLower(page)
	for _, mark := range []string{
		"cf-chl", "challenge-platform", "just a moment", "captcha", "wp-login.php", "id=\"loginform\"",
		"type=\"password\"", "verify you are human", "checking your browser", "ddos-guard", "sgcaptcha", "incapsula",
		"access denied", "attention required",
	} {
		if bytes.Contains(page, []byte(mark)) {
			return true
		}
	}
	return false
}

// beginRoot opens urlset or sitemapindex.
func (r *Reader) beginRoot(fam family, el element, pos int) {
	prefix := r.tag.prefix()
	if bound, ok := r.ns.lookup(prefix); ok && bound != famCore && bound != famNone {
		// The root element says what the document is, whatever namespace it was put into.
		r.report(codeNamespaceUnknown, pos, r.tag.name)
		r.ns.bind(prefix, famCore, 1)
	} else if fam == famNone || !ok {
		r.report(codeNamespaceMissing, pos, r.tag.name)
	}
	ctx := inSet
	typ := URLSet
	if el == elSitemapIndex {
		ctx, typ = inIndex, SitemapIndex
	}
	if !r.root {
		r.doc.Type = typ
		r.doc.Root = string(r.tag.name)
	}
	r.root = true
	r.enter(ctx)
}

// openAfter deals with a start tag after the root was closed.
func (r *Reader) openAfter(el element, pos int) {
	switch el {
	case elURLSet, elSitemapIndex:
		r.report(codeSecondRoot, pos, r.tag.name)
		fam, _ := r.familyOf(r.tag.prefix())
		r.beginRoot(fam, el, pos)
	case elURL, elSitemap:
		// Better read than lost: a page that seems to have gone is worse than one too many.
		r.reportJunk(codeJunkAfterRoot, pos)
		ctx := inSet
		if r.doc.Type == SitemapIndex {
			ctx = inIndex
		}
		r.openListed(ctx, famCore, el, pos)
	default:
		r.reportJunk(codeJunkAfterRoot, pos)
		r.skipTag()
		r.ns.leave(0)
	}
}
