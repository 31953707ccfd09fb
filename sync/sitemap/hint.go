package sitemap

// readLastmod reads a lastmod element.
func (r *Reader) readLastmod(name []byte) {
	start := r.win.offset()
	text, cooked := r.readValue(name)
	pos := r.win.at(start)
	if r.entry.hasLastmod {
		r.report(codeElementRepeated, pos, text)
		return
	}
	r.entry.hasLastmod = true
	l, form := parseDate(text)
	if form != dateW3C {
		if !cooked {
			text = r.cook(text)
		}
		l, form = parseDate(fold(trim(text)))
	}
	if r.entry.unexpanded {
		return
	}
	if l.State == Absent {
		return
	}
	l.Raw = r.memory.keep(l.Raw)
	r.entry.lastmod = l
	r.lastmodFindings(l, form, pos)
}

func (r *Reader) lastmodFindings(l Lastmod, form dateForm, pos int) {
	switch form {
	case dateBad:
		r.report(codeLastmodInvalid, pos, l.Raw)
	case dateZero:
		r.report(codeLastmodZero, pos, l.Raw)
	case dateSeveral:
		r.report(codeLastmodSeveral, pos, l.Raw)
	case dateNonstandard:
		r.report(codeLastmodNonstandard, pos, l.Raw)
	case dateNoZone:
		r.report(codeLastmodNoZone, pos, l.Raw)
	}
	if l.State == Valid && l.Instant >= 0 && l.Instant < 86_400_000_000 {
		r.report(codeLastmodEpoch, pos, l.Raw)
	}
}

// readChangefreq reads a changefreq element.
func (r *Reader) readChangefreq(name []byte) {
	start := r.win.offset()
	text := r.readText(name)
	pos := r.win.at(start)
	if r.entry.hasFreq {
		r.report(codeElementRepeated, pos, text)
		return
	}
	r.entry.hasFreq = true
	if len(text) == 0 || r.entry.unexpanded {
		return
	}
	if r.d.Changefreq = changefreqOf(text); r.d.Changefreq != ChangefreqNone {
		return
	}
	var word [8]byte // one byte more than the longest has
	lower := appendLower(word[:0], text[:min(len(text), len(word))])
	if r.d.Changefreq = changefreqOf(lower); r.d.Changefreq != ChangefreqNone {
		r.report(codeChangefreqCase, pos, text)
		return
	}
	r.report(codeChangefreqInvalid, pos, text)
}

// appendLower adds a text with its ASCII letters in lower case.
func appendLower(dst, text []byte) []byte {
	for _, c := range text {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}

func changefreqOf(word []byte) Changefreq {
	switch string(word) {
	case "always":
		return Always
	case "hourly":
		return Hourly
	case "daily":
		return Daily
	case "weekly":
		return Weekly
	case "monthly":
		return Monthly
	case "yearly":
		return Yearly
	case "never":
		return Never
	}
	return ChangefreqNone
}

// readPriority reads a priority element.
func (r *Reader) readPriority(name []byte) {
	start := r.win.offset()
	text := r.readText(name)
	pos := r.win.at(start)
	if r.entry.hasPrio {
		r.report(codeElementRepeated, pos, text)
		return
	}
	r.entry.hasPrio = true
	if len(text) == 0 || r.entry.unexpanded {
		return
	}
	micros, inRange, ok := parsePriority(text)
	switch {
	case !ok:
		r.report(codePriorityInvalid, pos, text)
	case !inRange:
		r.report(codePriorityRange, pos, text)
	default:
		r.d.Priority = Priority{Micros: micros, Set: true}
	}
}

// parsePriority reads a plain decimal number in millionths.
func parsePriority(b []byte) (micros int32, inRange, ok bool) {
	negative := false
	if b[0] == '+' || b[0] == '-' {
		negative = b[0] == '-'
		b = b[1:]
	}
	whole, seen := int64(0), false
	i := 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		whole = min(whole*10+int64(b[i]-'0'), 1_000_000)
		seen = true
	}
	part, unit, rest := int64(0), int64(100_000), false
	if i < len(b) && b[i] == '.' {
		for i++; i < len(b) && b[i]-'0' <= 9; i++ {
			part += int64(b[i]-'0') * unit
			rest = rest || unit == 0 && b[i] != '0'
			unit /= 10
			seen = true
		}
	}
	if i < len(b) || !seen {
		return 0, false, false
	}
	sum := whole*1_000_000 + part
	if negative && (sum > 0 || rest) || sum > 1_000_000 || sum == 1_000_000 && rest {
		return 0, false, true
	}
	return int32(sum), true, true
}
