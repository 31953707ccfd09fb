package canonical

import (
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"strings"

	"github.com/sitemapd/sitemapd/sync/canonical/headscan"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// Extract reads one response into evidence about the URL that was asked for.
// Where the fetch was redirected, that evidence is the redirect, and Along
// holds what the same fetch says of the later hops and of the page it reached:
// a page's own words never count for the URL that led to it. It never fails.
func Extract(r Response) Evidence {
	urls := make([]string, 0, len(r.Hops)+1)
	for _, h := range r.Hops {
		urls = append(urls, h.URL)
	}
	final := r.FinalURL
	if final == "" {
		final = r.URL
		if n := len(r.Hops); n > 0 {
			if l, reason := resolve(parseBase(r.Hops[n-1].URL), firstHeader(r.Hops[n-1].Header, "Location"), ""); reason == "" {
				final = l.wire
			}
		}
	}
	urls = append(urls, final)
	if len(r.Hops) > 0 {
		urls[0] = r.URL
	}
	var all []Evidence
	for i := range r.Hops {
		x := extraction{r: &r}
		x.begin(urls[i])
		x.hops(i)
		all = append(all, x.done(i == 0))
	}
	x := extraction{r: &r}
	x.begin(final)
	x.page()
	all = append(all, x.done(len(r.Hops) == 0))
	ev := all[0]
	ev.Along = all[1:]
	if len(ev.Along) == 0 {
		ev.Along = nil
	}
	return ev
}

// extraction is the work on one URL of a response.
type extraction struct {
	r       *Response
	ev      Evidence
	self    *weburl.URL // the URL itself, nil if it is none
	base    *weburl.URL // what the document's references resolve against
	baseURL string      // the same as text where a base element set it
	doc     decoded
	ordinal map[Kind]int
	lineAt  int // offset up to which lines are counted
	line    int
}

func parseBase(url string) *weburl.URL {
	u, problem := weburl.ParseString(nil, url)
	if problem != weburl.None {
		return nil
	}
	return &u
}

func (x *extraction) begin(url string) {
	x.ordinal, x.line = map[Kind]int{}, 1
	x.ev = Evidence{Source: url, Parser: ParserVersion, Items: make([]Item, 0, 12)}
	if l, reason := resolve(nil, url, ""); reason == "" && !l.foreign {
		x.self, x.ev.Source, x.ev.Key = &l.url, l.wire, l.key
		x.base = x.self
	}
}

// done closes the evidence; what was told of the asked URL from outside joins it.
func (x *extraction) done(asked bool) Evidence {
	told := Told{x.r.Sitemaps, x.r.Config}
	if !asked {
		told = x.r.Along[x.ev.Key]
	}
	for _, s := range told.Sitemaps {
		x.add(Item{Kind: KindSitemap, Place: PlaceDocument, Raw: s.Loc, Source: s.Document, Line: s.Line, Accepted: true}, x.self, "")
	}
	for _, c := range told.Config {
		it := Item{Kind: KindConfig, Place: PlaceSystem, Raw: c.URL, Source: c.System, Accepted: true}
		if c.Derived && (x.ev.Reading != ReadingRead || x.ev.Robots.NoIndex || len(x.ev.Declared()) > 0) {
			it.Accepted, it.Reason = false, ReasonDerived
		}
		x.add(it, x.self, "")
	}
	x.duplicates()
	x.contradictions()
	if len(x.ev.Items) == 0 {
		x.ev.Items = nil
	}
	return x.ev
}

// hops reads the redirect responses from the i-th on, as the evidence of the i-th URL.
func (x *extraction) hops(i int) {
	x.ev.Reading, x.ev.Status = ReadingRedirect, x.r.Hops[i].Status
	for n := i; n < len(x.r.Hops); n++ {
		h := x.r.Hops[n]
		x.redirect(h.URL, h.Status, h.Header, n+1)
	}
	own := x.r.Hops[i]
	x.links(own.Header, PlaceHop, i+1, true)
	x.robotsHeader(own.Header)
}

// redirect adds one redirect response. Its target counts whatever the final answer was.
func (x *extraction) redirect(from string, status int, h map[string][]string, hop int) {
	kind := KindRedirectTemporary
	if status == 301 || status == 308 {
		kind = KindRedirectPermanent
	}
	location := firstHeader(h, "Location")
	it := Item{Kind: kind, Place: PlaceHop, Raw: location, Hop: hop, Status: status, Accepted: true}
	if location == "" {
		it.Accepted, it.Reason = false, ReasonOtherLocation
	}
	if status == 300 || status == 304 || status == 305 || status == 306 {
		it.Accepted, it.Reason = false, ReasonOtherLocation
	}
	x.add(it, parseBase(from), "")
}

// page reads the final answer.
func (x *extraction) page() {
	r := x.r
	x.ev.Reading, x.ev.Status = statusReading(r), r.Status
	if r.Failure != "" {
		if r.Failure == FailureNoRobots {
			x.remark(HintNoRobots, "", 0)
		}
		return
	}
	if x.ev.Reading == ReadingRedirect { // a redirect that was not followed
		x.redirect(x.ev.Source, r.Status, r.Header, len(r.Hops)+1)
	}
	x.ev.ContentType = contentType(r)
	counts := r.Status < 400
	body, cut, ok := inflate(r.Body)
	if !ok {
		x.ev.Reading = ReadingUndecodable
	}
	if cut || len(body) > MaxBody {
		body = body[:min(len(body), MaxBody)]
		r = withTruncated(r)
		x.r = r
	}
	mayChallenge := x.ev.Reading != ReadingGone && x.ev.Reading != ReadingNotModified && x.ev.Reading != ReadingRedirect && x.ev.Reading != ReadingUndecodable
	if mayChallenge {
		if sign := challengeByHeader(r); sign != "" {
			x.challenged(sign)
			counts = false
		}
	}
	if v := httpTime(firstHeader(r.Header, "Last-Modified")); !v.IsZero() {
		x.ev.Dates = append(x.ev.Dates, PageDate{From: "last-modified", Raw: clip(firstHeader(r.Header, "Last-Modified"), 80), At: v})
	}
	x.links(r.Header, PlaceHeader, 0, counts)
	x.robotsHeader(r.Header)
	for _, v := range header(r.Header, "Refresh") {
		x.refresh(KindRefreshHeader, PlaceHeader, v, Item{Source: clip("Refresh: "+v, maxSource)}, counts)
	}
	if x.ev.Reading == ReadingNotModified || x.ev.Reading == ReadingUndecodable {
		return
	}
	x.body(body, counts)
	// A page that declares something is taken for itself: walls declare nothing.
	if mayChallenge && x.ev.Challenge == "" && len(x.ev.Declared()) == 0 {
		if sign := challengeByBody(body); sign != "" {
			x.challenged(sign)
		}
	}
}

// challenged says that another page stands in this one's place: nothing of it counts.
func (x *extraction) challenged(sign string) {
	x.ev.Challenge = sign
	if x.ev.Reading = ReadingChallenge; x.r.Status == 503 && firstHeader(x.r.Header, "Retry-After") != "" {
		x.ev.Reading = ReadingMaintenance
	}
	for i := range x.ev.Items {
		it := &x.ev.Items[i]
		if it.Accepted && it.Kind != KindSitemap && it.Kind != KindConfig {
			it.Accepted, it.Reason = false, ReasonChallenge
		}
	}
	x.ev.Robots = Robots{}
}

// body reads the document, if it is one.
func (x *extraction) body(body []byte, counts bool) {
	if x.blank(body) {
		x.ev.Reading = ReadingEmpty
		return
	}
	html := isHTML(x.ev.ContentType, body)
	if !html {
		if x.ev.Reading == ReadingRead && len(x.ev.Declared()) == 0 {
			x.ev.Reading = ReadingNonHTML
		}
		if len(x.ev.Declared()) > 0 {
			x.remark(HintNonHTML, x.ev.ContentType, 0)
		}
		return
	}
	if isBinary(body) {
		x.ev.Reading = ReadingUndecodable
		return
	}
	if x.r.Truncated { // what begins a tag is text, which ends the head, where nothing follows
		body = bytes.TrimSuffix(bytes.TrimSuffix(body, []byte("</")), []byte("<"))
	}
	x.html(body, counts)
	declared := len(x.ev.Of(KindHTMLLink)) > 0 && len(x.ev.Declared()) > 0
	unseen := x.r.Truncated && !x.ev.Head.Ended || x.ev.Dropped > 0
	if unseen && x.ev.Reading == ReadingRead && !declared {
		x.ev.Reading = ReadingTruncated
	}
}

// blank says that an answer that should be a page holds nothing at all. It is no document, and its header, which was
// written before the program died, is no better; of what was cut off nobody knows whether it was blank.
func (x *extraction) blank(body []byte) bool {
	if x.ev.Reading != ReadingRead || x.r.Truncated || len(bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))) > 0 {
		return false
	}
	mt, _, _ := strings.Cut(strings.ToLower(x.ev.ContentType), ";")
	mt = strings.TrimSpace(mt)
	return mt == "" || mt == "text/html" || mt == "application/xhtml+xml" || x.r.Status == 204 || x.r.Status == 205
}

func withTruncated(r *Response) *Response {
	c := *r
	c.Truncated = true
	return &c
}

func contentType(r *Response) string {
	v := r.ContentType
	if v == "" {
		v = firstHeader(r.Header, "Content-Type")
	}
	return clip(v, 200)
}

// isHTML decides by the content type; an answer without one is judged by its first character.
func isHTML(contentType string, body []byte) bool {
	mt, _, err := mime.ParseMediaType(contentType)
	if err != nil && mt == "" {
		mt = strings.ToLower(strings.TrimSpace(strings.SplitN(contentType, ";", 2)[0]))
	}
	if mt != "" {
		return mt == "text/html" || mt == "application/xhtml+xml"
	}
	b := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(b, []byte("<")) && !bytes.HasPrefix(b, []byte("<?xml"))
}

// inflate opens a body that is still gzip, whatever its headers said. It is not
// ok if the body is coded in another way, or broken from the start; cut says
// that it breaks off within the stream.
func inflate(b []byte) (out []byte, cut, ok bool) {
	switch {
	case bytes.HasPrefix(b, []byte("\x28\xb5\x2f\xfd")):
		return nil, false, false
	case !bytes.HasPrefix(b, []byte("\x1f\x8b")):
		return b, false, true
	}
	zr, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, false, false
	}
	var buf bytes.Buffer
	_, err = io.Copy(&buf, io.LimitReader(zr, MaxBody+1))
	return buf.Bytes(), err != nil, err == nil || buf.Len() > 0
}

// isBinary says whether a body that claims to be text is coded in a way that
// nobody said: control characters that no text has, without being UTF-16.
func isBinary(b []byte) bool {
	if bytes.HasPrefix(b, []byte("\xfe\xff")) || bytes.HasPrefix(b, []byte("\xff\xfe")) {
		return false
	}
	n := 0
	head := b[:min(len(b), 512)]
	for _, c := range head {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b && c != 0 {
			n++
		}
	}
	return n > len(head)/20+1
}

// add resolves a statement against base and keeps it.
func (x *extraction) add(it Item, base *weburl.URL, charset string) *Item {
	if n := len(x.ev.Items); n >= MaxItems && (!it.Declares() || n >= MaxItems+MaxDeclared) {
		x.ev.Dropped++
		return &it
	}
	x.ordinal[it.Kind]++
	it.Ordinal = x.ordinal[it.Kind]
	if it.Kind != KindRobots && it.Reason != ReasonNoHref && it.Reason != ReasonMalformed {
		l, reason := resolve(base, it.Raw, charset)
		it.URL, it.Key, it.Hints = l.wire, l.key, append(it.Hints, l.hints...)
		if reason != "" {
			it.URL, it.Key = "", Key{}
			if it.Accepted || it.Reason == "" {
				it.Accepted, it.Reason = false, reason
			}
			if reason == ReasonEmptyTarget && it.Kind == KindHTMLLink {
				it.Hints = append(it.Hints, HintEmptyHref)
			}
		} else {
			x.place(&it, l)
		}
	}
	it.Raw = clip(it.Raw, MaxRaw)
	x.ev.Items = append(x.ev.Items, it)
	return &x.ev.Items[len(x.ev.Items)-1]
}

// place sets the scope, and the hints that follow from where the target is.
func (x *extraction) place(it *Item, l location) {
	if x.self == nil {
		return
	}
	if l.foreign {
		it.Scope = ScopeCrossDomain
		return
	}
	it.Scope = classify(*x.self, l.url)
	if it.Scope == ScopeSelf && it.HasHint(HintUserinfo) {
		it.Scope = ScopeSameHost // never the page itself, though its URL is the same without the name
	}
	if isLeaked(*x.self, l.url, x.r.Hosts) {
		it.Hints = append(it.Hints, HintLeakedHost)
	}
	if it.Declares() && string(x.self.Scheme) == "https" && string(l.url.Scheme) == "http" {
		it.Hints = append(it.Hints, HintDowngrade)
	}
}

// duplicates marks declarations of one kind that say the same again.
func (x *extraction) duplicates() {
	for i := range x.ev.Items {
		a := &x.ev.Items[i]
		if !a.Accepted || !a.Declares() {
			continue
		}
		for j := i + 1; j < len(x.ev.Items); j++ {
			b := &x.ev.Items[j]
			if b.Accepted && b.Kind == a.Kind && b.Key == a.Key && b.HasHint(HintUserinfo) == a.HasHint(HintUserinfo) {
				b.Accepted, b.Reason = false, ReasonDuplicate
				b.Hints = append(b.Hints, HintDuplicate)
			}
		}
	}
}

// contradictions adds the remarks that need more than one statement.
func (x *extraction) contradictions() {
	for _, it := range x.ev.Items {
		if !it.Accepted || !it.Declares() || it.Scope == ScopeSelf {
			continue
		}
		if x.ev.Robots.NoIndex {
			x.remark(HintNoindex, strings.Join(x.ev.Robots.NoIndexFrom, ","), it.Offset)
		}
		for _, h := range x.ev.Items {
			if h.Kind == KindHreflang && h.Accepted && h.Key == it.Key && !strings.EqualFold(h.Lang, "x-default") {
				x.remark(HintHreflangElsewhere, h.Lang, it.Offset)
				break
			}
		}
		break
	}
	if x.ev.Dropped > 0 {
		x.remark(HintTruncatedItems, "", 0)
	}
}

func (x *extraction) remark(h Hint, detail string, offset int) {
	if len(x.ev.Remarks) >= maxRemarks {
		return
	}
	r := Remark{Hint: h, Detail: clip(detail, 200), Offset: offset}
	if offset > 0 && len(x.doc.doc) > 0 {
		r.Line = 1 + bytes.Count(x.doc.doc[:min(offset, len(x.doc.doc))], []byte("\n"))
	}
	x.ev.Remarks = append(x.ev.Remarks, r)
}

// lineOf counts lines up to an offset; offsets must not go back by much, or it counts anew.
func (x *extraction) lineOf(offset int) int {
	if offset < x.lineAt {
		x.lineAt, x.line = 0, 1
	}
	end := min(offset, len(x.doc.doc))
	x.line += bytes.Count(x.doc.doc[x.lineAt:end], []byte("\n"))
	x.lineAt = end
	return x.line
}

// clip cuts a text to n bytes, at a character's boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// limits are what one document's scan may cost.
func (x *extraction) limits() headscan.Limits {
	after := x.r.After
	if after == 0 {
		after = MaxAfter
	}
	return headscan.Limits{Total: MaxBody, After: after}
}
