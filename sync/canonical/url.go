package canonical

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sitemapd/sitemapd/sync/weburl"
)

// Key names a URL: the hash of its identity key (sync/weburl). Equal keys are
// the same URL by syntax; nothing else ever is.
type Key weburl.Key

// MarshalText gives 32 lower-case hex digits.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (k *Key) UnmarshalText(b []byte) error {
	if len(b) != 2*len(k) {
		return fmt.Errorf("key %q: want %d hex digits", b, 2*len(k))
	}
	if _, err := hex.Decode(k[:], b); err != nil {
		return fmt.Errorf("key %q: %w", b, err)
	}
	return nil
}

// String gives 32 lower-case hex digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// IsZero says that the key names no URL.
func (k Key) IsZero() bool { return k == Key{} }

// KeyOf gives the key of an absolute URL, zero if it is none that can be fetched.
func KeyOf(url string) Key {
	l, reason := resolve(nil, url, "")
	if reason != "" || l.foreign {
		return Key{}
	}
	return l.key
}

// location is a reference after resolution.
type location struct {
	wire    string // to fetch and show: no fragment, no user name
	key     Key
	url     weburl.URL // zero where foreign
	foreign bool       // a scheme that nobody here can fetch
	hints   []Hint
}

// badSchemes can never lead to a preferred URL of a page.
var badSchemes = map[string]bool{"javascript": true, "data": true, "mailto": true, "file": true, "blob": true, "about": true, "tel": true}

// resolve reads one published reference by the rules of the WHATWG URL
// standard, against base where that is not nil. Charset names the encoding of
// the document for the query's non-ASCII characters; "" is UTF-8. The reason is
// empty or says why the reference leads nowhere.
func resolve(base *weburl.URL, raw, charset string) (l location, reason Reason) {
	text := strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	if len(text) != len(raw) {
		l.hint(HintSpaces)
	}
	if text == "" {
		return l, ReasonEmptyTarget
	}
	if strings.ContainsAny(text, "\t\n\r") {
		text = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(text)
		l.hint(HintLineBreak)
	}
	if strings.Contains(text, "&amp;") {
		l.hint(HintDoubleEscaped)
	}
	if len(text) > 2048 {
		l.hint(HintLong)
	}
	scheme := schemeOf(text)
	switch {
	case isPlaceholder(text):
		l.hint(HintPlaceholder)
	case embedsURL(text, scheme):
		l.hint(HintEmbeddedURL)
	}
	if scheme != "" && scheme != "http" && scheme != "https" {
		return l.otherScheme(text, scheme)
	}
	if base != nil {
		text = l.shape(base, text, scheme)
	}
	text = encodeQuery(text, charset)
	if strings.ContainsAny(text, "<{") || scheme == "" && strings.Contains(text, " ") {
		// weburl, made for sitemaps, takes these for markup and prose.
		text = strings.NewReplacer("<", "%3C", "{", "%7B").Replace(text)
		if scheme == "" {
			text = strings.ReplaceAll(text, " ", "%20")
		}
		l.hint(HintEncoded)
	}
	u, problem := weburl.ParseString(base, text)
	switch problem {
	case weburl.None:
	case weburl.Empty:
		return l, ReasonEmptyTarget
	case weburl.BadScheme:
		return l, ReasonBadScheme
	default:
		return l, ReasonMalformed
	}
	l.finish(u)
	return l, ""
}

// shape brings a relative text into a form that weburl, whose readers also
// list bare host names, cannot take for a host; and says how it was relative.
func (l *location) shape(base *weburl.URL, text, scheme string) string {
	slashes := 0
	rest := text
	if scheme != "" {
		rest = text[len(scheme)+1:]
	}
	for slashes < len(rest) && (rest[slashes] == '/' || rest[slashes] == '\\') {
		slashes++
	}
	switch {
	case scheme != "" && (slashes >= 2 || scheme != string(base.Scheme)):
		if slashes != 2 || rest[:2] != "//" {
			l.hint(HintSlashes)
		}
		return text
	case scheme != "": // "https:x" and "https:/x" under https are relative
		l.hint(HintSlashes)
		text = rest
	case slashes >= 2:
		l.hint(HintProtocolRelative)
		return text
	}
	l.hint(HintRelative)
	if text == "" {
		return "./"
	}
	switch text[0] {
	case '/', '\\':
		return string(base.Origin()) + "/" + text[1:]
	case '?', '#':
		return text
	}
	if looksLikeHost(text) || strings.HasPrefix(text, "http//") || strings.HasPrefix(text, "https//") {
		l.hint(HintMissingScheme)
	}
	return "./" + text
}

// otherScheme judges a reference that is neither http nor https.
func (l *location) otherScheme(text, scheme string) (location, Reason) {
	if badSchemes[scheme] || !strings.HasPrefix(text[len(scheme):], "://") {
		if !badSchemes[scheme] && looksLikeHost(text) {
			l.hint(HintMissingScheme)
		}
		return *l, ReasonBadScheme
	}
	l.foreign = true
	l.wire, _, _ = strings.Cut(scheme+text[len(scheme):], "#")
	l.key = Key(weburl.KeyOf([]byte(l.wire)))
	l.hint(HintUnverifiableScheme)
	return *l, ""
}

// finish takes wire form, key and hints from a parsed URL.
func (l *location) finish(u weburl.URL) {
	identity := u.Identity
	if u.Notes&weburl.NoteUserinfo != 0 {
		l.hint(HintUserinfo)
		clean := stripUser(identity)
		v, problem := weburl.Parse(nil, clean)
		if problem == weburl.None {
			v.Wire = stripUser(u.Wire)
			v.Notes = u.Notes
			u, identity = v, v.Identity
		}
	}
	if u.Notes&weburl.NoteFragment != 0 {
		l.hint(HintFragment)
	}
	if u.Notes&weburl.NoteBadPercent != 0 {
		l.hint(HintBadPercent)
	}
	if u.Notes&weburl.NoteEscaped != 0 && !slices.Contains(l.hints, HintEncoded) {
		l.hint(HintEncoded)
	}
	if bytes.Contains(u.Path, []byte("//")) {
		l.hint(HintDoubleSlash)
	}
	if bytes.HasSuffix(u.Host, []byte(".")) {
		l.hint(HintTrailingDot)
	}
	l.url, l.key = u, Key(weburl.KeyOf(identity))
	l.wire = wireForm(u)
}

// wireForm is what is fetched and shown: scheme, host and port normalised,
// path and query as published, for some servers answer one case of hex digits only.
func wireForm(u weburl.URL) string {
	wire, _, _ := bytes.Cut(u.Wire, []byte("#"))
	tail := []byte("/")
	if i := bytes.Index(wire, []byte("//")); i >= 0 {
		if j := bytes.IndexAny(wire[i+2:], "/?"); j >= 0 {
			tail = wire[i+2+j:]
		}
	}
	if u.Notes&weburl.NoteDots != 0 {
		tail = u.Identity[len(u.Origin()):]
	}
	out := string(u.Origin())
	if tail[0] != '/' {
		out += "/"
	}
	return out + string(tail)
}

func stripUser(wire []byte) []byte {
	i := bytes.Index(wire, []byte("//"))
	if i < 0 {
		return wire
	}
	end := len(wire)
	if j := bytes.IndexAny(wire[i+2:], "/\\?#"); j >= 0 {
		end = i + 2 + j
	}
	at := bytes.LastIndexByte(wire[i+2:end], '@')
	return append(append([]byte{}, wire[:i+2]...), wire[i+2+at+1:]...)
}

func (l *location) hint(h Hint) { l.hints = append(l.hints, h) }

// schemeOf gives the scheme in lower case, "" if the text has none.
func schemeOf(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return strings.ToLower(s[:i])
		default:
			return ""
		}
	}
	return ""
}

// classify puts the target's place in relation to the source.
func classify(source, target weburl.URL) Scope {
	if bytes.Equal(source.Identity, target.Identity) {
		return ScopeSelf
	}
	switch v := weburl.Variants(source, target) &^ weburl.VariantFragment; {
	case v == weburl.VariantScheme:
		return ScopeSchemeVariant
	case v&^weburl.VariantScheme == weburl.VariantWWW:
		return ScopeHostVariant
	case v == weburl.VariantSlash:
		return ScopeSlashVariant
	case v == weburl.VariantCase || v == weburl.VariantCase|weburl.VariantSlash:
		return ScopeCaseVariant
	case v == weburl.VariantQuery || v == weburl.VariantOrder:
		return ScopeQueryVariant
	case bytes.Equal(source.Host, target.Host):
		return ScopeSameHost
	case weburl.Site(source.Host) == weburl.Site(target.Host):
		return ScopeSameSite
	}
	return ScopeCrossDomain
}

// isPrivateHost says whether a host is one that the public web cannot reach.
func isPrivateHost(host []byte) bool {
	h := strings.TrimSuffix(string(host), ".")
	if a, err := netip.ParseAddr(strings.Trim(h, "[]")); err == nil {
		a = a.Unmap()
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified() || a.IsMulticast()
	}
	i := strings.LastIndexByte(h, '.')
	if i < 0 {
		return true
	}
	switch h[i+1:] {
	case "localhost", "local", "internal", "lan", "home", "corp", "test", "invalid", "intranet", "ddev", "lndo":
		return true
	}
	return false
}

// bareHost is a host without "www.", which is another name of the same site.
func bareHost(host []byte) string { return strings.TrimPrefix(string(host), "www.") }

// Leaks says whether a URL that a page names is on a host that was not meant for the page's readers, whatever names it:
// such a URL is never asked for. Own lists the hosts of the page's site, without "www.".
func Leaks(page, named string, own []string) bool {
	p, n := parseBase(page), parseBase(named)
	return p != nil && n != nil && isLeaked(*p, *n, own)
}

// stagingLabels begin the names of hosts that publishers build on.
var stagingLabels = []string{"staging", "stage", "stg", "dev", "test", "preview", "preprod", "uat", "local"}

// isLeaked says whether target names a host that was surely not meant for readers of source: one on a private network, or
// one that publishers build on. The source's own host and those of its site (own, without "www.") never are, whatever
// their names and ports; a site that is itself served from a private host may leak another one all the same.
func isLeaked(source, target weburl.URL, own []string) bool {
	host := bareHost(target.Host)
	if host == bareHost(source.Host) || slices.Contains(own, host) {
		return false
	}
	if isPrivateHost(target.Host) {
		return true
	}
	first, _, _ := strings.Cut(string(target.Host), ".")
	for _, s := range stagingLabels {
		if first == s || strings.HasPrefix(first, s+"-") || strings.HasSuffix(first, "-"+s) {
			return true
		}
	}
	return false
}

// validUTF8 gives s, or its bytes read as Latin-1 and percent-encoded, as RFC 9110 lets a field value hold them.
func validUTF8(s string) (text string, latin1 bool) {
	if utf8.ValidString(s) {
		return s, false
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < utf8.RuneSelf {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String(), true
}
