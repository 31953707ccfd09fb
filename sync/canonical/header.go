package canonical

import (
	"strings"

	"github.com/sitemapd/sitemapd/sync/canonical/linkheader"
)

// links reads the Link fields of a response. Targets resolve against the URL
// of that response, never against a base element (RFC 8288 section 3.2).
func (x *extraction) links(h map[string][]string, place Place, hop int, counts bool) {
	values := header(h, "Link")
	if len(values) == 0 {
		return
	}
	links, dropped := linkheader.Parse(values)
	x.ev.Dropped += dropped
	for _, l := range links {
		kind, lang := linkKind(l)
		if kind == "" {
			if l.Problem != "" && strings.Contains(strings.ToLower(l.Raw), "canonical") {
				x.remark(HintHeaderMalformed, l.Raw, 0)
			}
			continue
		}
		raw, latin1 := validUTF8(l.Target)
		it := Item{Kind: kind, Place: place, Raw: raw, Source: "Link: " + clip(strings.ToValidUTF8(l.Raw, "?"), maxSource), Offset: l.Offset,
			Line: l.Field + 1, Hop: hop, Accepted: true, Lang: lang}
		if latin1 {
			it.Hints = append(it.Hints, HintLatin1)
		}
		for _, p := range l.Params {
			if p.Name != "rel" && len(it.Attrs) < 16 {
				it.Attrs = append(it.Attrs, Attr{p.Name, clip(strings.ToValidUTF8(p.Value, "?"), 200)})
			}
		}
		x.refuseLink(&it, l, counts)
		if kind == KindHTTPLink {
			it.Hints = append(it.Hints, disqualified(it.Attrs)...)
		}
		x.identify(x.add(it, x.self, ""))
	}
}

// refuseLink sets why a link of the header does not count, if it does not.
func (x *extraction) refuseLink(it *Item, l linkheader.Link, counts bool) {
	rel, _ := l.Param("rel")
	anchor, hasAnchor := l.Param("anchor")
	switch {
	case l.Problem != "":
		it.Accepted, it.Reason = false, ReasonMalformed
		it.Hints = append(it.Hints, HintHeaderMalformed)
		it.Raw = strings.ToValidUTF8(l.Raw, "?")
	case it.Kind == KindLookalike:
		it.Accepted, it.Reason = false, ReasonNotCanonical
		if strings.HasPrefix(rel.Value, "'") {
			it.Hints = append(it.Hints, HintSingleQuotes)
		}
	case hasAnchor && !x.isSelf(anchor.Value):
		it.Accepted, it.Reason = false, ReasonAnchor
	case !counts:
		it.Accepted, it.Reason = false, x.refusal()
	}
}

// refusal is why no statement of this answer counts.
func (x *extraction) refusal() Reason {
	if x.ev.Challenge != "" {
		return ReasonChallenge
	}
	return ReasonErrorStatus
}

// isSelf says whether a reference of the header names the response's own URL.
func (x *extraction) isSelf(ref string) bool {
	if ref == "" || strings.HasPrefix(ref, "#") {
		return ref == ""
	}
	l, reason := resolve(x.self, ref, "")
	return reason == "" && l.key == x.ev.Key
}

// linkKind says what a link of the header states, "" if nothing of interest.
func linkKind(l linkheader.Link) (Kind, string) {
	if l.Problem != "" {
		if strings.Contains(strings.ToLower(l.Raw), "canonical") {
			return KindLookalike, ""
		}
		return "", ""
	}
	rel, _ := l.Param("rel")
	switch {
	case l.HasRel("canonical"):
		return KindHTTPLink, ""
	case l.HasRel("shortlink"):
		return KindShortlink, ""
	case l.HasRel("amphtml"):
		return KindAMP, ""
	case l.HasRel("alternate"):
		if lang, ok := l.Param("hreflang"); ok {
			return KindHreflang, clip(lang.Value, 40)
		}
		if t, _ := l.Param("type"); equalFold(t.Value, "application/json") && restID(l.Target) != "" {
			return KindREST, ""
		}
	case equalFold(strings.Trim(rel.Value, "'"), "canonical"):
		return KindLookalike, ""
	}
	return "", ""
}

// disqualified names the attributes for which Google ignores a canonical link.
func disqualified(attrs []Attr) []Hint {
	for _, a := range attrs {
		switch a.Name {
		case "hreflang", "lang", "media", "type":
			return []Hint{HintAttrDisqualified}
		}
	}
	return nil
}

// identify gives shortlinks and REST links the identifier they carry.
func (x *extraction) identify(it *Item) {
	id := ""
	switch it.Kind {
	case KindShortlink:
		if _, q, ok := strings.Cut(it.URL, "?"); ok {
			for _, kv := range strings.Split(q, "&") {
				if k, v, _ := strings.Cut(kv, "="); (k == "p" || k == "page_id") && isDigits(v) {
					id = v
				}
			}
		}
	case KindREST:
		id = restID(it.URL)
	}
	if id == "" || x.self == nil {
		return
	}
	it.ID = "wp:" + string(x.self.Host) + ":" + id
}

// restID gives the post ID at the end of a WordPress REST route, "" if there is
// none. Posts of all types share one sequence of IDs; terms and users do not.
func restID(url string) string {
	i := strings.Index(url, "/wp/v2/")
	if i < 0 {
		if i = strings.Index(url, "%2Fwp%2Fv2%2F"); i < 0 {
			return ""
		}
		url = strings.ReplaceAll(url[i:], "%2F", "/")
		i = 0
	}
	parts := strings.Split(strings.TrimSuffix(url[i+len("/wp/v2/"):], "/"), "/")
	if len(parts) != 2 || !isDigits(parts[1]) {
		return ""
	}
	switch parts[0] {
	case "users", "categories", "tags", "comments":
		return ""
	}
	return parts[1]
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && len(s) < 20
}

func (x *extraction) robotsHeader(h map[string][]string) {
	for i, v := range header(h, "X-Robots-Tag") {
		v = strings.ToValidUTF8(v, "?")
		it := Item{Kind: KindRobots, Place: PlaceHeader, Raw: v, Source: clip("X-Robots-Tag: "+v, maxSource), Line: i + 1}
		for _, d := range ParseRobots(v, true) {
			if x.ev.Robots.add(d, "header", x.r.Fetched) {
				it.Accepted = true
			}
		}
		if !it.Accepted {
			it.Reason = ReasonOtherAgent
		}
		x.add(it, nil, "")
	}
}

// refresh adds a refresh, of the header or of a meta element.
func (x *extraction) refresh(kind Kind, place Place, value string, it Item, counts bool) {
	delay, url, ok := ParseRefresh(value)
	if !ok {
		return
	}
	it.Kind, it.Place, it.Raw, it.Delay, it.Accepted = kind, place, url, delay, true
	switch {
	case !counts:
		it.Accepted, it.Reason = false, x.refusal()
	case url == "":
		it.Accepted, it.Reason = false, ReasonSelfReload
	case place != PlaceHead && place != PlaceBody && place != PlaceHeader:
		it.Accepted, it.Reason = false, placeReason(place)
	}
	kept := x.add(it, x.base, x.doc.queryCharset())
	if kept.Accepted && kept.Scope == ScopeSelf {
		kept.Accepted, kept.Reason = false, ReasonSelfReload
	}
}

func placeReason(p Place) Reason {
	switch p {
	case PlaceBody:
		return ReasonInBody
	case PlaceNoscript:
		return ReasonInNoscript
	case PlaceTemplate:
		return ReasonInTemplate
	case PlaceSVG:
		return ReasonInSVG
	}
	return ""
}
