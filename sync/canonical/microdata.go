package canonical

import (
	"bytes"
	"strings"

	"github.com/sitemapd/sitemapd/sync/canonical/headscan"
	"github.com/sitemapd/sitemapd/sync/canonical/jsonld"
)

// microdata follows the open elements of a document that uses itemscope, to
// know which item an itemprop=url belongs to (WHATWG HTML 5.2).
type microdata struct {
	x     *extraction
	stack []openElement
	found []mdURL
}

type openElement struct {
	name  []byte
	scope *mdItem // the item that the element starts, if any
}

type mdItem struct {
	types []string
	id    string
	top   bool
}

type mdURL struct {
	el       found
	item     *mdItem
	property string
	value    string
}

// newMicrodata is nil for a document without microdata.
func newMicrodata(x *extraction, lim headscan.Limits) *microdata {
	doc := x.doc.doc[:min(len(x.doc.doc), lim.Total)]
	if lim.After > 0 && !bytes.Contains(doc, []byte("itemscope")) {
		return nil
	}
	if lim.After < 0 {
		return nil
	}
	return &microdata{x: x}
}

func (m *microdata) element(e *headscan.Element) {
	if e.Place != headscan.PlaceHead && e.Place != headscan.PlaceBody {
		return
	}
	prop, hasProp := e.Attr("itemprop")
	_, hasScope := e.Attr("itemscope")
	var item *mdItem
	if hasScope {
		item = &mdItem{types: []string{}, id: m.x.value(e, "itemid"), top: !hasProp || hasToken(string(prop.Value), "mainEntity")}
		for _, t := range strings.Fields(m.x.value(e, "itemtype")) {
			item.types = append(item.types, jsonld.ShortType(t))
		}
	} else if hasProp {
		m.property(e, string(prop.Value))
	}
	if e.Void || e.SelfClosed && e.Place != headscan.PlaceHead && e.Place != headscan.PlaceBody {
		return
	}
	name := e.Other
	if e.Name != "" {
		name = []byte(e.Name)
	}
	if e.Content == nil && len(m.stack) < maxElements {
		m.stack = append(m.stack, openElement{name, item})
	}
}

func (m *microdata) property(e *headscan.Element, props string) {
	property := ""
	for _, p := range []string{"url", "mainEntityOfPage"} {
		if hasToken(props, p) || hasToken(props, "https://schema.org/"+p) || hasToken(props, "http://schema.org/"+p) {
			property = p
		}
	}
	if property == "" || len(m.found) >= MaxItems {
		return
	}
	attr := urlAttribute(e.Name)
	a, ok := e.Attr(attr)
	if attr == "" || !ok {
		return
	}
	for i := len(m.stack) - 1; i >= 0; i-- {
		if s := m.stack[i].scope; s != nil {
			m.found = append(m.found, mdURL{found{*e, append([]headscan.Attr(nil), e.Attrs...)}, s, property, m.x.attr(a.Value)})
			return
		}
	}
}

// urlAttribute names the attribute that holds an element's microdata value; ""
// for elements whose value is their text.
func urlAttribute(name string) string {
	switch name {
	case "a", "area", "link":
		return "href"
	case "audio", "embed", "iframe", "img", "source", "track", "video":
		return "src"
	case "object":
		return "data"
	case "meta":
		return "content"
	case "data", "meter":
		return "value"
	}
	return ""
}

func (m *microdata) endTag(name []byte) {
	for i := len(m.stack) - 1; i >= 0 && i >= len(m.stack)-64; i-- {
		if bytes.EqualFold(m.stack[i].name, name) {
			m.stack = m.stack[:i]
			return
		}
	}
}

// flush adds the statements once the document's base is known.
func (m *microdata) flush(counts bool) {
	for _, f := range m.found {
		f.el.el.Attrs = f.el.attrs
		it := m.x.item(&f.el.el, KindSchema, f.value)
		it.Node = &Node{Type: strings.Join(f.item.types, " "), ID: clip(f.item.id, 500), Property: f.property, Syntax: "microdata"}
		m.x.schema(it, f.item.types, f.item.top, counts)
	}
}
