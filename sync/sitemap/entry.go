package sitemap

import (
	"bytes"
	"unicode/utf8"

	"github.com/sitemapd/sitemapd/sync/weburl"
)

// loc is one usable address of an entry.
type loc struct {
	wire, identity []byte
	foreign        bool
}

// entry is the state of the entry that is being read.
type entry struct {
	at         place
	locs       []loc
	hasLoc     bool // a loc element was met, usable or not
	refused    bool // one was met that is not usable
	bare       []byte
	cut        bool // the document ended inside a value
	unexpanded bool // the value just read depends on an entity that is not expanded
	overlong   bool // the value just read is longer than a token may be
	lastmod    Lastmod
	hasLastmod bool
	hasFreq    bool
	hasPrio    bool
	mobile     Mobile
	news       News
	blocks     blocks
}

func (e *entry) reset() {
	e.locs = e.locs[:0]
	e.hasLoc, e.refused, e.cut, e.unexpanded = false, false, false, false
	e.bare = e.bare[:0]
	e.lastmod = Lastmod{}
	e.hasLastmod, e.hasFreq, e.hasPrio = false, false, false
}

// begin starts an entry whose tag stands at index pos of the window.
func (r *Reader) begin(pos int) {
	r.longRead++
	r.entry.reset()
	r.entry.at = r.win.place(pos)
	r.memory.reset()
	if r.d.HasExtensions() {
		r.dropBlocks()
	}
	r.d.Changefreq, r.d.Priority = ChangefreqNone, Priority{}
}

// dropBlocks forgets the extension blocks of the entry before.
func (r *Reader) dropBlocks() {
	r.entry.blocks.reset()
	r.d.Images, r.d.Videos, r.d.Alternates, r.d.PageMap = nil, nil, nil, nil
	r.d.News, r.d.Mobile = nil, nil
}

// readLoc reads a loc element.
func (r *Reader) readLoc(name []byte) {
	start := r.win.offset()
	text, cooked := r.readValue(name)
	pos := r.win.at(start)
	r.entry.hasLoc = true
	if !cooked && bytes.IndexByte(text, '&') < 0 {
		if u, problem := r.urls.Fast(r.baseURL(), text); problem == weburl.None {
			r.addLoc(u, text, pos)
			return
		}
	}
	if !cooked {
		text = r.cook(text)
	}
	r.takeLoc(text, pos)
}

// takeLoc judges a decoded address.
func (r *Reader) takeLoc(text []byte, pos int) {
	switch {
	case r.entry.unexpanded:
		r.entry.refused = true
		return
	case r.entry.overlong:
		r.entry.refused = true
		r.report(codeLocTooLong, pos, nil)
		return
	}
	if inner := unquoted(text); inner != nil {
		r.report(codeLocQuoted, pos, text)
		text = inner
	}
	u, problem := r.urls.Parse(r.baseURL(), text)
	if problem != weburl.None {
		if r.entry.cut {
			return
		}
		r.entry.refused = true
		r.report(locProblem(problem), pos, text)
		return
	}
	if bytes.Contains(text, []byte("&amp;")) {
		r.report(codeLocDoubleEscaped, pos, text)
	}
	r.addLoc(u, text, pos)
}

// unquoted gives the absolute address that a text holds between quotes or angle brackets (RFC 3986, appendix C), nil when it is none.
// Taken as it stands it would be a relative one, of a page that nobody has.
func unquoted(text []byte) []byte {
	if len(text) < 2 || text[0] != '"' && text[0] != '\'' && text[0] != '<' && text[0] < utf8.RuneSelf {
		return nil // nearly every one
	}
	for _, pair := range [...][2]string{{`"`, `"`}, {"'", "'"}, {"<", ">"}, {"\u201c", "\u201d"}, {"\u2018", "\u2019"}, {"\u00ab", "\u00bb"}} {
		inner, opened := bytes.CutPrefix(text, []byte(pair[0]))
		inner, closed := bytes.CutSuffix(inner, []byte(pair[1]))
		if !opened || !closed {
			continue
		}
		inner = trim(inner)
		scheme := bytes.ToLower(inner[:min(len(inner), len("https://"))])
		if bytes.HasPrefix(scheme, []byte("http://")) || bytes.HasPrefix(scheme, []byte("https://")) {
			return inner
		}
	}
	return nil
}

func locProblem(p weburl.Problem) code {
	switch p {
	case weburl.Empty:
		return codeLocEmpty
	case weburl.TooLong:
		return codeLocTooLong
	case weburl.BadScheme:
		return codeLocScheme
	case weburl.NoHost, weburl.BadHost, weburl.BadPort:
		return codeLocHost
	}
	return codeLocInvalid
}

func (r *Reader) baseURL() *weburl.URL {
	if r.hasBase {
		return &r.base
	}
	return nil
}

// addLoc keeps a usable address with what is to be said about it.
func (r *Reader) addLoc(u weburl.URL, text []byte, pos int) {
	l := loc{wire: r.memory.keep(u.Wire)}
	l.identity = l.wire
	if !bytes.Equal(u.Wire, u.Identity) {
		l.identity = r.memory.keep(u.Identity)
	}
	if u.Notes != 0 {
		r.locNotes(u.Notes, text, pos)
	}
	if len(u.Wire) > r.opt.WarnLoc {
		r.report(codeLocLong, pos, u.Wire)
	}
	if r.hasBase {
		switch {
		case !bytes.Equal(u.Host, r.base.Host) || !bytes.Equal(u.Port, r.base.Port):
			l.foreign = true
			r.report(codeLocForeign, pos, u.Wire)
		case len(u.Scheme) != len(r.base.Scheme):
			r.report(codeLocSchemeDiffers, pos, u.Wire)
		case r.baseDir != nil && r.context() != inChild && !bytes.HasPrefix(u.Path, r.baseDir):
			r.report(codeLocOutsideDirectory, pos, u.Wire)
		}
	}
	r.entry.locs = append(r.entry.locs, l)
}

// locNotes reports the peculiarities of an address that was accepted.
func (r *Reader) locNotes(n weburl.Note, text []byte, pos int) {
	for _, note := range [...]struct {
		bit  weburl.Note
		code code
	}{
		{weburl.NoteRelative, codeLocRelative}, {weburl.NoteSchemeMissing, codeLocSchemeMissing},
		{weburl.NoteEscaped, codeLocNotEscaped}, {weburl.NoteIDN, codeLocIDN}, {weburl.NoteFragment, codeLocFragment},
		{weburl.NoteUserinfo, codeLocUserinfo}, {weburl.NoteTrimmed, codeLocLineBreak},
		{weburl.NoteSlashes, codeLocSlashes}, {weburl.NoteBadPercent, codeLocBadPercent},
	} {
		if n&note.bit != 0 {
			r.report(note.code, pos, text)
		}
	}
}

// usable settles what the entry's addresses are; false when there is none, which was reported.
func (r *Reader) usable() bool {
	e := &r.entry
	if e.cut {
		return false
	}
	if !e.hasLoc && len(bytes.TrimSpace(e.bare)) > 0 {
		if !r.asFeed { // there it is the guid
			r.reportAt(codeBareTextEntry, e.at, e.bare)
		}
		e.unexpanded, e.overlong = false, false
		r.takeLoc(trim(r.cook(trim(e.bare))), r.win.r)
		e.hasLoc = true
	}
	if len(e.locs) == 0 {
		r.doc.Refused++
		if !e.hasLoc {
			r.reportAt(codeLocMissing, e.at, nil)
		}
		return false
	}
	if len(e.locs) > 1 {
		r.reportAt(codeSeveralLocs, e.at, e.locs[1].wire)
	}
	return true
}

// finishEntry delivers the entry as a declaration of a page.
func (r *Reader) finishEntry() {
	if r.err != nil || r.stopped || !r.usable() {
		return
	}
	e := &r.entry
	d := &r.d
	d.Lastmod = e.lastmod
	if len(d.Alternates) > 0 {
		r.checkAlternates()
	}
	for i := range d.PageMap { // objects are complete only now
		r.canon = appendObject(r.canon[:0], &d.PageMap[i])
		e.blocks.sum.add(r.canon, nil)
	}
	for i := 0; i < len(e.locs) && r.err == nil && !r.stopped; i++ {
		l := &e.locs[i]
		d.Loc, d.Identity, d.Foreign = l.wire, l.identity, l.foreign
		r.deliver(e.at)
	}
}

// deliver hands the declaration, complete but for place and fingerprint, to the visitor.
func (r *Reader) deliver(at place) {
	d, doc := &r.d, r.doc
	if doc.Entries+doc.Children >= r.opt.MaxEntries {
		r.reportAt(codeEntryLimit, at, nil)
		r.stopped = true
		return
	}
	d.Line, d.Offset = at.line, at.offset
	if !r.opt.SkipHashes {
		r.seal(at)
	}
	if d.Lastmod.State == Valid {
		doc.Dated++
	}
	if d.Foreign {
		doc.Foreign++
	}
	doc.Entries++
	if r.visit.Declaration != nil {
		r.err = r.visit.Declaration(d)
	}
}

// seal computes the declaration's fingerprint and takes it into the document's sums.
func (r *Reader) seal(at place) {
	d := &r.d
	c := appendHints(appendClaims(append(r.canon[:0], 'u'), &d.Lastmod), d.Changefreq, d.Priority)
	if d.HasExtensions() {
		c = r.entry.blocks.sum.appendTo(append(c, 'X'))
	}
	r.canon = c
	sealPrint(&d.Fingerprint, d.Identity, c)
	r.record(&d.Fingerprint, at, d.Loc)
}

// record takes an entry's fingerprint into the document's sums.
func (r *Reader) record(f *[16]byte, at place, loc []byte) {
	if r.prints.add(f) {
		r.prints.suspect(f, at, loc)
	}
}

// finishChild delivers the entry as a reference to another document.
func (r *Reader) finishChild() {
	if r.err != nil || r.stopped || !r.usable() {
		return
	}
	e := &r.entry
	c := &r.child
	c.Lastmod, c.Line, c.Offset = e.lastmod, e.at.line, e.at.offset
	for i := 0; i < len(e.locs) && r.err == nil; i++ {
		l := &e.locs[i]
		if r.doc.Entries+r.doc.Children >= r.opt.MaxEntries {
			r.reportAt(codeEntryLimit, e.at, nil)
			r.stopped = true
			return
		}
		c.Loc, c.Identity, c.Foreign = l.wire, l.identity, l.foreign
		if !r.opt.SkipHashes {
			r.canon = appendClaims(append(r.canon[:0], 's'), &c.Lastmod)
			sealPrint(&c.Fingerprint, c.Identity, r.canon)
			r.record(&c.Fingerprint, e.at, c.Loc)
		}
		if c.Foreign {
			r.doc.Foreign++
		}
		if r.hasBase && bytes.Equal(l.identity, r.base.Identity) {
			r.reportAt(codeSelfReference, e.at, l.wire)
		}
		r.gen.seeChild(l.identity)
		r.doc.Children++
		if r.visit.Child != nil {
			r.err = r.visit.Child(c)
		}
	}
}

func entryLoc(plain []byte) loc { return loc{wire: plain, identity: plain} }
