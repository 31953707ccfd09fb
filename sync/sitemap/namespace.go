package sitemap

import (
	"bytes"
	"strings"
)

// family is a namespace as far as it matters here.
type family uint8

const (
	famNone family = iota // no namespace in force
	famCore               // the sitemap protocol's
	famImage
	famVideo
	famNews
	famXHTML
	famMobile
	famPageMap
	famAtom
	famRSS1
	famRDF
	famDC
	famContent // a namespace that may stand in a sitemap and says nothing to us: xsi, schema extensions, ...
	famWrong   // bound to an extension's usual prefix, but not the extension's namespace
	famForeign // any other
)

// spelling says how a namespace name was written.
type spelling uint8

const (
	spelledRight spelling = iota
	spelledLegacy
	spelledVariant
	spelledWrong
)

// known lists the namespace names as the specifications write them, with the outdated ones.
var known = []struct {
	uri string
	fam family
	how spelling
}{
	{"http://www.sitemaps.org/schemas/sitemap/0.9", famCore, spelledRight},
	{"http://www.google.com/schemas/sitemap/0.84", famCore, spelledLegacy},
	{"http://www.google.com/schemas/sitemap/0.9", famCore, spelledLegacy},
	{"http://www.google.com/schemas/sitemap-image/1.1", famImage, spelledRight},
	{"http://www.google.com/schemas/sitemap-image/1.0", famImage, spelledLegacy},
	{"http://www.sitemaps.org/schemas/sitemap-image/1.1", famImage, spelledVariant},
	{"http://www.google.com/schemas/sitemap-video/1.1", famVideo, spelledRight},
	{"http://www.google.com/schemas/sitemap-video/1.0", famVideo, spelledLegacy},
	{"http://www.sitemaps.org/schemas/sitemap-video/1.1", famVideo, spelledVariant},
	{"http://www.google.com/schemas/sitemap-news/0.9", famNews, spelledRight},
	{"http://www.google.com/schemas/sitemap-news/1.0", famNews, spelledVariant},
	{"http://www.google.com/schemas/sitemap-mobile/1.0", famMobile, spelledRight},
	{"http://www.google.com/schemas/sitemap-pagemap/1.0", famPageMap, spelledRight},
	{"http://www.w3.org/1999/xhtml", famXHTML, spelledRight},
	{"http://www.w3.org/TR/xhtml11/xhtml11_schema.html", famXHTML, spelledVariant},
	{"http://www.w3.org/TR/html4", famXHTML, spelledVariant},
	{"http://www.w3.org/2005/Atom", famAtom, spelledRight},
	{"http://purl.org/atom/ns#", famAtom, spelledLegacy},
	{"http://purl.org/rss/1.0/", famRSS1, spelledRight},
	{"http://my.netscape.com/rdf/simple/0.9/", famRSS1, spelledLegacy},
	{"http://www.w3.org/1999/02/22-rdf-syntax-ns#", famRDF, spelledRight},
	{"http://purl.org/dc/elements/1.1/", famDC, spelledRight},
	{"http://purl.org/dc/terms/", famDC, spelledRight},
	{"http://www.w3.org/2001/XMLSchema-instance", famContent, spelledRight},
	{"http://www.w3.org/XML/1998/namespace", famContent, spelledRight},
}

// classify finds the family of a namespace name, however it is spelt.
func classify(uri []byte) (family, spelling) {
	for i := range known {
		if string(uri) == known[i].uri {
			return known[i].fam, known[i].how
		}
	}
	loose := looseURI(string(uri))
	for i := range known {
		if loose == looseURI(known[i].uri) {
			return known[i].fam, spelledVariant
		}
	}
	for _, word := range []struct {
		text string
		fam  family
	}{
		{"sitemap-image", famImage}, {"sitemap-video", famVideo}, {"sitemap-news", famNews},
		{"sitemap-mobile", famMobile}, {"sitemap-pagemap", famPageMap}, {"1999/xhtml", famXHTML},
	} {
		if strings.Contains(loose, word.text) {
			return word.fam, spelledVariant
		}
	}
	if strings.Contains(loose, "sitemap") && (strings.Contains(loose, "schema") || strings.Contains(loose, "sitemaps.org")) {
		return famCore, spelledWrong
	}
	return famForeign, spelledRight
}

// looseURI folds scheme, "www.", case, white space and a slash at the end.
func looseURI(uri string) string {
	uri = strings.ToLower(strings.TrimSpace(uri))
	uri = strings.TrimPrefix(strings.TrimPrefix(uri, "https:"), "http:")
	uri = strings.TrimPrefix(strings.Trim(uri, "/#"), "www.")
	return uri
}

// usualFamily is the family that a prefix means by custom.
func usualFamily(prefix []byte) family {
	switch string(prefix) {
	case "image":
		return famImage
	case "video":
		return famVideo
	case "news", "n":
		return famNews
	case "xhtml":
		return famXHTML
	case "mobile":
		return famMobile
	case "pagemap", "PageMap":
		return famPageMap
	case "atom":
		return famAtom
	case "rdf":
		return famRDF
	case "dc", "dcterms":
		return famDC
	case "sm", "sitemap", "s", "ns", "ns0", "ns1":
		return famCore
	}
	return famForeign
}

// binding is one xmlns declaration in force.
type binding struct {
	prefix []byte // owned
	fam    family
	depth  int // of the element that carries it
}

// namespaces resolves prefixes, innermost first.
type namespaces struct {
	bound   []binding
	names   []byte // memory of the prefixes
	version uint32 // changes whenever bound does
}

func (n *namespaces) reset() {
	n.bound, n.names = n.bound[:0], n.names[:0]
	n.version++
}

func (n *namespaces) bind(prefix []byte, fam family, depth int) {
	start := len(n.names)
	n.names = append(n.names, prefix...)
	n.bound = append(n.bound, binding{n.names[start:len(n.names):len(n.names)], fam, depth})
	n.version++
}

// leave drops the bindings of elements deeper than depth.
func (n *namespaces) leave(depth int) {
	for len(n.bound) > 0 && n.bound[len(n.bound)-1].depth > depth {
		n.names = n.names[:len(n.names)-len(n.bound[len(n.bound)-1].prefix)]
		n.bound = n.bound[:len(n.bound)-1]
		n.version++
	}
}

func (n *namespaces) lookup(prefix []byte) (family, bool) {
	for i := len(n.bound) - 1; i >= 0; i-- {
		if bytes.Equal(n.bound[i].prefix, prefix) {
			return n.bound[i].fam, true
		}
	}
	return famNone, false
}

// declare handles one xmlns attribute: it binds the prefix, keeps the name for the document and reports its spelling.
func (r *Reader) declare(prefix, uri []byte, pos, depth int) {
	fam, how := classify(uri)
	if len(prefix) == 0 && len(bytes.TrimSpace(uri)) == 0 {
		fam = famNone
	}
	if usual := usualFamily(prefix); len(prefix) > 0 && fam == famForeign && usual >= famImage && usual <= famPageMap {
		fam = famWrong
	}
	r.ns.bind(prefix, fam, depth)
	r.nameSpace(uri)
	switch {
	case fam == famCore && how == spelledLegacy:
		r.report(codeNamespaceLegacy, pos, uri)
	case fam == famCore && how == spelledVariant:
		r.report(codeNamespaceVariant, pos, uri)
	case fam == famCore && how == spelledWrong:
		r.report(codeNamespaceMisspelt, pos, uri)
	case how != spelledRight:
		r.report(codeExtensionNamespaceVariant, pos, uri)
	}
}

// nameSpace adds a name to the document's list, once, up to a bound that no real document reaches.
func (r *Reader) nameSpace(uri []byte) {
	if len(r.doc.Namespaces) >= 32 || len(uri) > 1024 || len(uri) == 0 {
		return
	}
	for _, have := range r.doc.Namespaces {
		if have == string(uri) {
			return
		}
	}
	r.doc.Namespaces = append(r.doc.Namespaces, string(uri))
}
