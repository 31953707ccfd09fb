package canonical

import (
	"fmt"
	"strings"
)

// declaration reports on how the canonical URL is declared.
func (r *reporter) declaration() {
	c, ev := r.c, &r.c.Evidence
	var outside *Item
	said := map[Key]bool{} // of duplicates
	tried := false         // something stands there for a declaration, and a finding says why it is none
	for i := range ev.Items {
		it := &ev.Items[i]
		switch {
		case it.Kind == KindLookalike && it.HasHint(HintHeaderMalformed):
			tried = true
			r.say(FindingMalformed, it, "Link header cannot be read: %s", it.Raw)
		case it.Kind == KindLookalike:
			tried = true
			r.say(FindingLookalike, it, "no canonical declaration: %s", it.Source)
		case !it.Declares():
		case it.Reason == ReasonInBody:
			outside, tried = it, true
		case it.Reason == ReasonInNoscript || it.Reason == ReasonInTemplate || it.Reason == ReasonInSVG:
			tried = true
			r.say(FindingInert, it, "stands in %s", it.Place)
		case it.Reason == ReasonDuplicate:
			if !said[it.Key] {
				said[it.Key] = true
				r.say(FindingDuplicate, it, "declared %d times", times(ev, it))
			}
		case it.Reason == ReasonBadScheme && it.HasHint(HintMissingScheme):
			tried = true
			r.say(FindingMissingScheme, it, "%q begins with a host and names no page", it.Raw)
		case it.Reason == ReasonEmptyTarget || it.Reason == ReasonMalformed || it.Reason == ReasonBadScheme || it.Reason == ReasonNoHref:
			tried = true
			r.say(FindingMalformed, it, "%s: %q", strings.ReplaceAll(string(it.Reason), "_", " "), it.Raw)
		case it.Accepted:
			r.form(it)
		}
	}
	if outside != nil {
		what := "stands in the body"
		if h := ev.Head; h.Broken {
			what = fmt.Sprintf("the head was ended by %s at line %d, byte %d", h.EndedBy, h.Line, h.Offset)
		}
		r.say(FindingOutsideHead, outside, "%s", what)
	}
	for _, m := range ev.Remarks {
		switch m.Hint {
		case HintSwallowed:
			tried = true
			r.say(FindingInert, nil, "is only text inside %s at line %d, byte %d", m.Detail, m.Line, m.Offset)
		case HintJSONLDInvalid:
			r.say(FindingJSONLDInvalid, nil, "no valid JSON at line %d: %s", m.Line, m.Detail)
		case HintCharsetConflict:
			r.say(FindingCharsetConflict, nil, "read as %s (%s), also declared as %s", ev.Charset, ev.CharsetFrom, m.Detail)
		}
	}
	// What is missing is reported once: here, or by the finding that says why what stands there does not count. A page that
	// refreshes to another one at once is a redirect, which needs no declaration of its own.
	if r.silent() && !tried && !c.BareArchive && ev.Reading == ReadingRead && len(refreshes(ev)) == 0 {
		text := "declares no canonical URL"
		if ev.HasRemark(HintJSSuspected) {
			text += " in what the server sends; a script may add one, which is not seen"
		}
		r.say(FindingMissing, nil, "%s", text)
	}
	if k := c.Verdict.Conflict; k != nil {
		r.conflict(k)
	}
}

// times counts how often a page makes one declaration.
func times(ev *Evidence, it *Item) (n int) {
	for i := range ev.Items {
		if o := &ev.Items[i]; o.Kind == it.Kind && o.Key == it.Key && (o.Accepted || o.Reason == ReasonDuplicate) {
			n++
		}
	}
	return n
}
