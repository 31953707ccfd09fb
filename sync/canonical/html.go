package canonical

import (
	"bytes"
	"strings"

	"github.com/sitemapd/sitemapd/sync/canonical/headscan"
	"github.com/sitemapd/sitemapd/sync/canonical/jsonld"
	"golang.org/x/net/html"
)

// found is an element set aside until the whole document was seen: the first
// base element counts for links before it as well.
type found struct {
	el    headscan.Element
	attrs []headscan.Attr
}

// html reads an HTML document.
func (x *extraction) html(body []byte, counts bool) {
	x.doc = decode(body, x.ev.ContentType)
	if garbled(x.doc.doc) {
		x.ev.Reading = ReadingUndecodable
		return
	}
	x.ev.Charset, x.ev.CharsetFrom = x.doc.name, x.doc.from
	if x.doc.conflict != "" {
		x.remark(HintCharsetConflict, x.doc.conflict, 0)
	}
	kept := make([]found, 0, 16)
	lim := x.limits()
	md := newMicrodata(x, lim)
	v := headscan.Visitor{Element: func(e *headscan.Element) {
		if md != nil {
			md.element(e)
		}
		if !wanted(e) {
			return
		}
		if n := len(kept); n >= 2*MaxItems && (!isCanonicalLink(e) || n >= 2*MaxItems+MaxDeclared) {
			x.ev.Dropped++
			return
		}
		kept = append(kept, found{*e, append([]headscan.Attr(nil), e.Attrs...)})
	}}
	if md != nil {
		v.EndTag = md.endTag
	}
	res := headscan.Scan(x.doc.doc, lim, v)
	x.ev.Head = DocumentHead{Ended: res.Ended || !res.Cut && !x.r.Truncated, EndedBy: res.By, Broken: res.Broken,
		NoscriptSensitive: res.NoscriptSensitive}
	if res.By != "" {
		x.ev.Head.Offset, x.ev.Head.Line = res.Offset+x.doc.bom, x.lineOf(res.Offset)
	}
	x.setBase(kept)
	for i := range kept {
		kept[i].el.Attrs = kept[i].attrs
		x.element(&kept[i].el, counts)
	}
	if md != nil {
		md.flush(counts)
	}
	if len(x.ev.Of(KindHTMLLink)) == 0 && counts {
		x.whyNone(lim, res)
	}
}

// wanted says whether an element may hold a statement.
func wanted(e *headscan.Element) bool {
	switch e.Name {
	case "base":
		return true
	case "meta":
		return wantedMeta(e)
	case "link":
		_, ok := e.Attr("rel")
		return ok || meantCanonical(e)
	case "a":
		a, ok := e.Attr("rel")
		return ok && hasToken(string(a.Value), "canonical")
	case "script":
		a, ok := e.Attr("type")
		if !ok {
			return false
		}
		t, _, _ := strings.Cut(string(a.Value), ";")
		return equalFold(strings.TrimSpace(t), "application/ld+json")
	}
	return false
}

// meantCanonical says whether a link without a type has "canonical" in an attribute that is not the one.
func meantCanonical(e *headscan.Element) bool {
	for _, name := range []string{"property", "name", "type", "itemprop", "class", "id", "rev"} {
		if a, ok := e.Attr(name); ok && hasToken(string(a.Value), "canonical") {
			return true
		}
	}
	return false
}

func isCanonicalLink(e *headscan.Element) bool {
	a, _ := e.Attr("rel")
	return e.Name == "link" && hasToken(string(a.Value), "canonical")
}

// wantedMeta says whether a meta element may be one that metaElement reads. A
// name with character references is kept, to be decoded there.
func wantedMeta(e *headscan.Element) bool {
	for _, attr := range []string{"name", "property", "http-equiv"} {
		a, ok := e.Attr(attr)
		if !ok {
			continue
		}
		v := string(bytes.TrimSpace(a.Value))
		if strings.Contains(v, "&") || equalFold(v, "og:url") || dateProperties[strings.ToLower(v)] || equalFold(v, "canonical") || equalFold(v, "refresh") {
			return true
		}
		if len(v) <= maxRobotsName && robotsNames[strings.ToLower(v)] {
			return true
		}
	}
	return false
}

// maxRobotsName is the length of the longest of robotsNames.
const maxRobotsName = 16

// setBase finds the document's base URL: that of the first base element with
// href, itself resolved against the document's URL.
func (x *extraction) setBase(kept []found) {
	for i := range kept {
		e := &kept[i].el
		if e.Name != "base" || e.Place != headscan.PlaceHead && e.Place != headscan.PlaceBody {
			continue
		}
		e.Attrs = kept[i].attrs
		a, ok := e.Attr("href")
		if !ok {
			continue
		}
		raw := x.attr(a.Value)
		l, reason := resolve(x.self, raw, x.doc.queryCharset())
		if strings.TrimSpace(raw) == "" && x.self != nil {
			return // an empty base is the document's own URL
		}
		if reason != "" || l.foreign {
			x.remark(HintBaseIgnored, raw, e.Start)
			return
		}
		x.base, x.baseURL, x.ev.Base = &l.url, l.wire, l.wire
		return
	}
}

// attr decodes an attribute's value: the document's encoding, then character references.
func (x *extraction) attr(v []byte) string {
	s := noNUL(x.doc.text(v))
	if !strings.Contains(s, "&") {
		return s
	}
	return unescapeAttr(s)
}

// noNUL puts U+FFFD in the place of U+0000, as the HTML standard does in attributes and in scripts.
func noNUL(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }

// unescapeAttr decodes character references once, as in an attribute: a name
// without semicolon before "=" or a letter stays. The tokenizer has that rule.
func unescapeAttr(s string) string {
	z := html.NewTokenizer(strings.NewReader(`<a b="` + strings.ReplaceAll(s, `"`, "&quot;") + `">`))
	if z.Next() != html.StartTagToken {
		return s
	}
	z.TagName()
	_, v, _ := z.TagAttr()
	return string(v)
}

// value is the decoded value of an attribute, "" where it is missing.
func (x *extraction) value(e *headscan.Element, name string) string {
	a, ok := e.Attr(name)
	if !ok {
		return ""
	}
	return x.attr(a.Value)
}

// item begins a statement of an element.
func (x *extraction) item(e *headscan.Element, kind Kind, raw string) Item {
	it := Item{Kind: kind, Place: Place(e.Place), Raw: raw, Accepted: true, Offset: e.Start + x.doc.bom, Line: x.lineOf(e.Start)}
	if e.Name != "script" {
		it.Source = clip(x.doc.text(x.doc.doc[e.Start:min(e.End, e.Start+maxSource)]), maxSource)
	}
	if x.baseURL != "" && kind != KindOpenGraph {
		it.Base = x.baseURL
	}
	return it
}

func (x *extraction) element(e *headscan.Element, counts bool) {
	switch e.Name {
	case "link":
		x.linkElement(e, counts)
	case "meta":
		x.metaElement(e, counts)
	case "a":
		it := x.item(e, KindLookalike, x.value(e, "href"))
		it.Accepted, it.Reason = false, ReasonNotCanonical
		x.add(it, x.base, x.doc.queryCharset())
	case "script":
		x.jsonLD(e, counts)
	}
}

func (x *extraction) linkElement(e *headscan.Element, counts bool) {
	rel := x.value(e, "rel")
	kind := Kind("")
	switch {
	case hasToken(rel, "canonical"):
		kind = KindHTMLLink
	case hasToken(rel, "shortlink"):
		kind = KindShortlink
	case hasToken(rel, "amphtml"):
		kind = KindAMP
	case hasToken(rel, "alternate"):
		if _, ok := e.Attr("hreflang"); ok {
			kind = KindHreflang
		} else if equalFold(strings.TrimSpace(x.value(e, "type")), "application/json") && restID(x.value(e, "href")) != "" {
			kind = KindREST
		}
	case strings.Contains(strings.ToLower(rel), "canonical"), misspelt(rel), rel == "" && meantCanonical(e):
		kind = KindLookalike
	}
	if kind == "" {
		return
	}
	href, hasHref := e.Attr("href")
	it := x.item(e, kind, x.attr(href.Value))
	if kind == KindHTMLLink || kind == KindHreflang {
		for _, a := range e.Attrs {
			if name := strings.ToLower(string(a.Name)); name != "rel" && name != "href" && len(it.Attrs) < 16 {
				it.Attrs = append(it.Attrs, Attr{clip(name, 40), clip(x.attr(a.Value), 200)})
			}
		}
	}
	switch {
	case kind == KindLookalike:
		it.Accepted, it.Reason = false, ReasonNotCanonical
		if strings.ContainsAny(rel, "\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u2033") {
			it.Hints = append(it.Hints, HintSmartQuotes)
		}
	case e.Place != headscan.PlaceHead:
		it.Accepted, it.Reason = false, placeReason(Place(e.Place))
		if x.ev.Head.Broken && kind == KindHTMLLink && e.Place == headscan.PlaceBody {
			it.Hints = append(it.Hints, HintHeadBroken)
		}
	case !hasHref:
		it.Accepted, it.Reason = false, ReasonNoHref
	case !counts:
		it.Accepted, it.Reason = false, x.refusal()
	}
	if !hasHref && it.Reason != ReasonNoHref && kind != KindLookalike {
		it.Reason = ReasonNoHref
	}
	if kind == KindHTMLLink {
		it.Hints = append(it.Hints, disqualified(it.Attrs)...)
		if e.Sensitive {
			it.Hints = append(it.Hints, HintNoscriptSensitive)
		}
	}
	it.Lang = clip(x.value(e, "hreflang"), 40)
	if kind != KindHreflang {
		it.Lang = ""
	}
	kept := x.add(it, x.base, x.doc.queryCharset())
	x.baseHost(kept)
	x.identify(kept)
}

// baseHost remarks on a relative declaration that a base element sent to another host.
func (x *extraction) baseHost(it *Item) {
	if it.Kind == KindHTMLLink && it.HasHint(HintRelative) && x.self != nil && x.base != nil && !bytes.Equal(x.self.Host, x.base.Host) {
		it.Hints = append(it.Hints, HintBaseChangedHost)
	}
}

// robotsNames are the meta names whose content is robots directives.
var robotsNames = map[string]bool{"robots": true, "googlebot": true, "googlebot-news": true, "bingbot": true, "msnbot": true,
	"slurp": true, "yandex": true, "baiduspider": true, "duckduckbot": true}

func (x *extraction) metaElement(e *headscan.Element, counts bool) {
	name := strings.ToLower(strings.TrimSpace(x.value(e, "name")))
	property := strings.ToLower(strings.TrimSpace(x.value(e, "property")))
	live := e.Place == headscan.PlaceHead || e.Place == headscan.PlaceBody
	switch {
	case robotsNames[name]:
		it := x.item(e, KindRobots, x.value(e, "content"))
		for _, d := range ParseRobots(it.Raw, false) {
			d.Agent = name
			it.Accepted = live && x.ev.Robots.add(d, "meta", x.r.Fetched)
		}
		if !it.Accepted {
			if it.Reason = placeReason(it.Place); live {
				it.Reason = ReasonOtherAgent
			}
		}
		x.add(it, nil, "")
	case dateProperties[property]:
		x.date(property, x.value(e, "content"))
	case property == "og:url" || name == "og:url":
		it := x.item(e, KindOpenGraph, x.value(e, "content"))
		if !counts {
			it.Accepted, it.Reason = false, x.refusal()
		} else if !live {
			it.Accepted, it.Reason = false, placeReason(it.Place)
		}
		x.add(it, x.self, "")
	case name == "canonical" || property == "canonical":
		raw := x.value(e, "content")
		if raw == "" {
			raw = x.value(e, "href")
		}
		it := x.item(e, KindLookalike, raw)
		it.Accepted, it.Reason = false, ReasonNotCanonical
		x.add(it, x.base, x.doc.queryCharset())
	case equalFold(x.value(e, "http-equiv"), "refresh"):
		it := x.item(e, KindRefresh, "")
		x.refresh(KindRefresh, Place(e.Place), x.value(e, "content"), it, counts)
	}
}

func (x *extraction) jsonLD(e *headscan.Element, counts bool) {
	if e.Place == headscan.PlaceTemplate || e.Place == headscan.PlaceNoscript {
		return
	}
	src := e.Content
	if len(src) > maxJSONLD {
		x.remark(HintJSONLDInvalid, "too long", e.Start)
		return
	}
	if x.doc.enc != nil {
		src = []byte(x.doc.text(src))
	}
	if bytes.IndexByte(src, 0) >= 0 {
		src = bytes.ReplaceAll(src, []byte{0}, []byte("\uFFFD"))
	}
	nodes, invalid, at := jsonld.Read(src)
	if invalid {
		x.remark(HintJSONLDInvalid, clip(strings.ToValidUTF8(string(src[min(at, len(src)):min(at+40, len(src))]), "?"), 40), e.ContentAt+at)
		return
	}
	for _, n := range nodes {
		if n.Property == "dateModified" || n.Property == "datePublished" {
			if n.Top && describesPage(n.Types) && counts {
				x.date(n.Property, n.Value)
			}
			continue
		}
		it := x.item(e, KindSchema, n.Value)
		it.Node = &Node{Type: strings.Join(n.Types, " "), ID: clip(n.ID, 500), Property: n.Property, Syntax: "jsonld"}
		x.schema(it, n.Types, n.Top, counts)
	}
}

// schema adds a schema.org statement; only the page's own node counts.
func (x *extraction) schema(it Item, types []string, top, counts bool) {
	if !counts {
		it.Accepted, it.Reason = false, x.refusal()
	} else if !top || !describesPage(types) {
		it.Accepted, it.Reason = false, ReasonNotPageNode
	}
	x.add(it, x.base, "")
}

// hasToken says whether a space-separated list holds the word, without regard to ASCII case.
func hasToken(list, word string) bool {
	for len(list) > 0 {
		i := strings.IndexAny(list, " \t\n\r\f")
		if i < 0 {
			return equalFold(list, word)
		}
		if equalFold(list[:i], word) {
			return true
		}
		list = list[i+1:]
	}
	return false
}

// shells are the ids of the element that script-built pages fill.
var shells = [][]byte{[]byte(`id="root"`), []byte(`id="app"`), []byte(`id="__next"`), []byte(`id="__nuxt"`), []byte("<app-root"),
	[]byte("id=root"), []byte("id=app")}

// whyNone looks for what may have kept a declaration from being one.
func (x *extraction) whyNone(lim headscan.Limits, res headscan.Result) {
	lim.Total = min(res.Read, lim.Total)
	for _, s := range headscan.Swallowed(x.doc.doc, lim) {
		x.remark(HintSwallowed, s.In, s.Offset)
	}
	for _, s := range shells {
		if !bytes.Contains(x.doc.doc[:lim.Total], s) {
			continue
		}
		text, scripts := 0, 0
		headscan.Scan(x.doc.doc, lim, headscan.Visitor{
			Element: func(e *headscan.Element) {
				if _, ok := e.Attr("src"); ok && e.Name == "script" {
					scripts++
				}
			},
			Text: func(t []byte, at int) { text += len(bytes.TrimSpace(t)) },
		})
		if scripts > 0 && text < 200 {
			x.remark(HintJSSuspected, string(s), 0)
		}
		return
	}
}
