package sitemap

import (
	"bytes"
	"encoding/binary"

	"github.com/sitemapd/sitemapd/sync/weburl"
)

// quickAhead is how much of the document is made visible before an entry is looked at, so that nearly every entry is
// seen as a whole.
const quickAhead = 4 << 10

// quick reads plain entries one after another: those of a urlset that hold nothing but loc, lastmod, changefreq and
// priority, written to the letter, with values that need no decoding. Such entries lie in the window as a whole, so
// nothing of them is copied. It does nothing that the long way would not do as well, and stops before the first entry
// that is not of that kind; false means that nothing was read.
func (r *Reader) quick() bool {
	w := &r.win
	read := false
	for {
		if w.w-w.r < quickAhead && !w.eof {
			w.fill()
		}
		b := w.buf[w.r:w.w]
		n := skipBlank(b, 0)
		if n+5 > len(b) || string(b[n:n+5]) != "<url>" {
			return read
		}
		size, ok := r.quickEntry(b, n)
		if !ok {
			return read
		}
		w.r += size
		read = true
		r.tokens += 4
		if r.err != nil || r.stopped || r.tokens > r.opt.MaxTokens || r.stack[len(r.stack)-1].ctx != inSet {
			return read
		}
	}
}

func skipBlank(b []byte, i int) int {
	for i < len(b) && kind[b[i]]&isBlank != 0 {
		i++
	}
	return i
}

// quickEntry reads the entry at b[start] and returns the index behind what it read: the whole entry, or its plain part
// when more follows, which then is left to the long way. False leaves everything as it was.
func (r *Reader) quickEntry(b []byte, start int) (int, bool) {
	i := skipBlank(b, start+5)
	if len(b)-i < 5 || string(b[i:i+5]) != "<loc>" {
		return 0, false
	}
	i = skipBlank(b, i+5)
	n, own := weburl.PlainLength(r.origin, b[i:])
	if !own || n > r.opt.WarnLoc {
		return 0, false
	}
	loc := b[i : i+n : i+n]
	i = skipBlank(b, i+n)
	if len(b)-i < 6 || string(b[i:i+6]) != "</loc>" || r.baseDir != nil && !bytes.HasPrefix(loc[len(r.origin)-1:], r.baseDir) {
		return 0, false
	}
	i += 6
	d := &r.d
	if d.HasExtensions() { // of the entry before
		r.dropBlocks()
	}
	d.Lastmod, d.Changefreq, d.Priority = Lastmod{}, ChangefreqNone, Priority{}
	blocks := false
	for {
		i = skipBlank(b, i)
		rest := b[i:]
		if len(rest) < 48 { // the longest that is looked for: a lastmod
			if len(rest) < 6 || string(rest[:6]) != "</url>" {
				return 0, false
			}
		}
		n = 0
		switch rest[1] {
		case '/':
			if string(rest[:6]) == "</url>" {
				r.quickDeliver(loc, start)
				return i + 6, true
			}
		case 'l':
			if string(rest[:9]) == "<lastmod>" && d.Lastmod.State == Absent {
				if n = quickDate(rest[9:], &d.Lastmod); n == 0 {
					return 0, false
				}
				i += 9 + n + 10
				continue
			}
		case 'x':
			if r.quickBlocks(famXHTML) && string(rest[:12]) == "<xhtml:link " {
				if n = r.quickAlternate(rest); n == 0 {
					return r.quickMiss()
				}
				i, blocks = i+n, true
				continue
			}
		case 'i':
			if r.quickBlocks(famImage) && string(rest[:13]) == "<image:image>" {
				if n = r.quickImage(rest); n == 0 {
					return r.quickMiss()
				}
				i, blocks = i+n, true
				continue
			}
		case 'c', 'p':
			if !blocks {
				n = r.quickHint(rest)
			}
		}
		switch {
		case n > 0:
			i += n
		case blocks:
			return r.quickMiss()
		default:
			return i, r.quickHandOver(loc, start)
		}
	}
}

// quickHint reads a changefreq or priority and returns its size; 0 when it is not valid to the letter, or not the first.
func (r *Reader) quickHint(rest []byte) int {
	d := &r.d
	switch {
	case string(rest[:12]) == "<changefreq>" && d.Changefreq == ChangefreqNone:
		text, n := quickValue(rest, 12, "</changefreq>")
		if d.Changefreq = changefreqOf(text); d.Changefreq != ChangefreqNone {
			return n
		}
	case string(rest[:10]) == "<priority>" && !d.Priority.Set:
		text, n := quickValue(rest, 10, "</priority>")
		if len(text) == 0 {
			return 0
		}
		micros, inRange, ok := parsePriority(text)
		if d.Priority = (Priority{micros, ok && inRange}); d.Priority.Set {
			return n
		}
	}
	return 0
}

// quickValue returns the trimmed text at b[i] up to the next tag, which must be the end tag given, and the index behind
// that; nil when it is not.
func quickValue(b []byte, i int, end string) ([]byte, int) {
	n := bytes.IndexByte(b[i:], '<')
	if n < 0 || len(b)-i-n < len(end) || string(b[i+n:i+n+len(end)]) != end {
		return nil, 0
	}
	return trim(b[i : i+n]), i + n + len(end)
}

// quickDate reads a date in one of the three forms that nearly all documents use, with the end tag behind it, and
// returns the date's length; 0 when it is anything else. B holds at least 48 bytes, as the caller made sure.
func quickDate(b []byte, l *Lastmod) int {
	n := 25
	switch byte('<') {
	case b[10]:
		n = 10
	case b[20]:
		n = 20
	}
	if string(b[n:n+10]) != "</lastmod>" {
		return 0
	}
	first, ok := pairs(b, formDate, 0x00ffff00ffffffff) // century, year, month
	last, ok2 := pairs(b[2:], formEnd, digitPairs)
	century, year, month, day := first&0xff, first>>16&0xff, first>>40&0xff, last>>48&0xff
	if !ok || !ok2 || month-1 > 11 || day-1 > 30 || century|year == 0 ||
		day > 28 && int(day) > daysIn(int(century*100+year), int(month)) {
		return 0
	}
	l.Instant = daysSinceEpoch(int(century*100+year), int(month), int(day)) * 86_400_000_000
	l.Precision = Day
	if n > 10 {
		clock, ok := pairs(b[11:], formClock, digitPairs)
		hour, minute, second := clock&0xff, clock>>24&0xff, clock>>48&0xff
		if !ok || b[10] != 'T' || hour > 23 || minute > 59 || second > 59 {
			return 0
		}
		offset := int64(0)
		if n == 25 {
			zone, ok := pairs(b[17:], formEast, digitPairs)
			east, past := zone>>24&0xff, zone>>48&0xff
			if b[19] == '-' {
				zone, ok = pairs(b[17:], formWest, digitPairs)
				east, past = zone>>24&0xff, zone>>48&0xff
				ok = ok && east|past > 0
			}
			if !ok || east > 15 || past > 59 {
				return 0
			}
			if offset = int64(east*3600 + past*60); b[19] == '-' {
				offset = -offset
			}
		} else if b[19] != 'Z' {
			return 0
		}
		l.Instant += (int64(hour*3600+minute*60+second) - offset) * 1_000_000
		l.Precision, l.Zone = Second, true
	}
	if uint64(l.Instant) < 86_400_000_000 { // the first day of 1970, which calls for a finding
		return 0
	}
	l.Raw, l.State = b[:n:n], Valid
	return n
}

// The forms that pairs knows, as eight bytes in little-endian order.
const (
	formDate   = 0x2d30302d30303030 // 0000-00-
	formEnd    = 0x30302d30302d3030 // 00-00-00, the end of a date
	formClock  = 0x30303a30303a3030 // 00:00:00
	formEast   = 0x30303a30302b3030 // 00+00:00, seconds and zone
	formWest   = 0x30303a30302d3030 // 00-00:00
	digitPairs = 0xffff00ffff00ffff // two digits, one other, three times
)

// pairs reads eight bytes that must be the form given, with any digit in place of a zero, and returns the value of each
// two neighbouring digits in the byte of the first. Digits has the bytes of digits set.
func pairs(b []byte, form, digits uint64) (uint64, bool) {
	const each = 0x0101010101010101
	v := binary.LittleEndian.Uint64(b) ^ form
	ok := v&^(digits&(0x0f*each)) == 0 && (v+0x06*each)&(0x10*each) == 0
	return v*10 + v>>8, ok
}

// quickDeliver hands the entry to the visitor.
func (r *Reader) quickDeliver(loc []byte, start int) {
	d := &r.d
	at := r.win.place(r.win.r + start)
	if len(d.Alternates) > 0 {
		r.entry.at = at
		r.entry.locs = append(r.entry.locs[:0], entryLoc(loc))
		r.checkAlternates()
	}
	d.Loc, d.Identity, d.Foreign = loc, loc, false
	r.deliver(at)
}

// quickHandOver makes the plain part of an entry that was read the state of the long way.
func (r *Reader) quickHandOver(loc []byte, start int) bool {
	l, c, p := r.d.Lastmod, r.d.Changefreq, r.d.Priority
	r.begin(r.win.r + start)
	e := &r.entry
	e.hasLoc = true
	loc = r.memory.keep(loc)
	e.locs = append(e.locs, entryLoc(loc))
	if l.State == Valid {
		l.Raw = r.memory.keep(l.Raw)
		e.lastmod, e.hasLastmod = l, true
	}
	r.d.Changefreq, r.d.Priority = c, p
	e.hasFreq, e.hasPrio = c != ChangefreqNone, p.Set
	return r.push(inEntry, nameURL)
}
