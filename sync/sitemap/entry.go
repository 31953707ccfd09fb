package sitemap

import (
	"bytes"

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
	r.entry.reset()
	r.entry.at = r.win.place(pos)
	r.memory.reset()
	if r.d.HasExtensions() {
		r.entry.blocks.reset()
		r.d.Images, r.d.Videos, r.d.Alternates, r.d.PageMap = nil, nil, nil, nil
		r.d.News, r.d.Mobile = nil, nil
	}
	r.d.Changefreq, r.d.Priority = ChangefreqNone, Priority{}
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
	if r.entry.unexpanded {
		r.entry.unexpanded = false
		r.entry.refused = true
		return
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
	r.addLoc(u, text, pos)
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
		case r.baseDir != nil && r.context() != inChild && !bytes.HasPrefix(u.Identity, r.baseDir):
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
	if bytes.Contains(text, []byte("&amp;")) {
		r.report(codeLocDoubleEscaped, pos, text)
	}
}

// usable settles what the entry's addresses are; false when there is none, which was reported.
func (r *Reader) usable() bool {
	e := &r.entry
	if e.cut {
		return false
	}
	if !e.hasLoc && len(bytes.TrimSpace(e.bare)) > 0 {
		r.reportAt(codeBareTextEntry, e.at, e.bare)
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
	d.Lastmod, d.Line, d.Offset = e.lastmod, e.at.line, e.at.offset
	if e.lastmod.State == Valid {
		r.doc.Dated++
	}
	if len(d.Alternates) > 0 {
		r.checkAlternates()
	}
	for i := range e.locs {
		l := &e.locs[i]
		if r.doc.Entries+r.doc.Children >= r.opt.MaxEntries {
			r.reportAt(codeEntryLimit, e.at, nil)
			r.stopped = true
			return
		}
		d.Loc, d.Identity, d.Foreign = l.wire, l.identity, l.foreign
		d.Fingerprint = r.fingerprint('u', l.identity, &d.Lastmod, d)
		r.prints.add(d.Fingerprint)
		if r.seen.add(l.identity) {
			r.doc.Duplicates++
			r.reportAt(codeDuplicateLoc, e.at, l.wire)
		}
		r.doc.Entries++
		if l.foreign {
			r.doc.Foreign++
		}
		if r.visit.Declaration != nil {
			if r.err = r.visit.Declaration(d); r.err != nil {
				return
			}
		}
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
	for i := range e.locs {
		l := &e.locs[i]
		if r.doc.Entries+r.doc.Children >= r.opt.MaxEntries {
			r.reportAt(codeEntryLimit, e.at, nil)
			r.stopped = true
			return
		}
		c.Loc, c.Identity, c.Foreign = l.wire, l.identity, l.foreign
		c.Fingerprint = r.fingerprint('s', l.identity, &c.Lastmod, nil)
		r.prints.add(c.Fingerprint)
		if r.seen.add(l.identity) {
			r.doc.Duplicates++
			r.reportAt(codeDuplicateChild, e.at, l.wire)
		}
		if r.hasBase && bytes.Equal(l.identity, r.base.Identity) {
			r.reportAt(codeSelfReference, e.at, l.wire)
		}
		r.doc.Children++
		if l.foreign {
			r.doc.Foreign++
		}
		if r.visit.Child != nil {
			if r.err = r.visit.Child(c); r.err != nil {
				return
			}
		}
	}
}
