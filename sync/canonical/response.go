package canonical

import "time"

// Bounds of what is looked at in one response. What lies beyond is not
// evidence of absence: the reading becomes truncated where it matters.
const (
	MaxBody     = 2 << 20   // bytes of the body, after inflating
	MaxAfter    = 256 << 10 // bytes looked at after the head's end
	MaxItems    = 512       // statements kept of one response
	MaxDeclared = 64        // canonical declarations kept beyond MaxItems, that a crowd of others hides none
	MaxRaw      = 8 << 10   // bytes kept of one value
	maxSource   = 512       // bytes kept of one tag or header line
	maxJSONLD   = 512 << 10 // bytes of one JSON-LD script
	maxElements = 512       // open elements followed for microdata
	maxRemarks  = 64
)

// Hop is one redirect response on the way to the final one.
type Hop struct {
	URL    string              // that was asked
	Status int                 // 3xx
	Header map[string][]string // with Location, and perhaps Link
}

// SitemapListing is one document that lists the page.
type SitemapListing struct {
	Document string // URL of the document
	Loc      string // as published
	Line     int
}

// Configured is a canonical URL that the site's system or the operator states
// outside of the page: a plugin's REST answer, a webhook, a mapping rule.
type Configured struct {
	URL    string
	System string // who says so: "wordpress 7.1, yoast", "operator"
	// Derived says that nobody entered it: it is the page's own address as the system has it. It counts only where the
	// page, read well and open to be indexed, states nothing itself.
	Derived bool
}

// Told is what others say of a URL.
type Told struct {
	Sitemaps []SitemapListing
	Config   []Configured
}

// Failure says that no answer to judge came back.
type Failure string

// The failures.
const (
	FailureTimeout   Failure = "timeout"
	FailureDNS       Failure = "dns"
	FailureTLS       Failure = "tls"
	FailureConnect   Failure = "connect"
	FailureReset     Failure = "reset"
	FailureRobots    Failure = "robots"    // robots.txt forbids the fetch
	FailureNoRobots  Failure = "no_robots" // robots.txt could not be read: nothing may be asked for, though nobody said so
	FailureAddress   Failure = "address"   // the address guard refused
	FailureRedirects Failure = "redirects" // too many redirects, or one that cannot be followed
)

// Response is what a fetch of one URL brought back, as far as it matters here.
type Response struct {
	URL         string              // that was asked for
	FinalURL    string              // that answered; "" is URL
	Hops        []Hop               // every redirect on the way, in order
	Status      int                 // of the final answer
	Header      map[string][]string // of the final answer, any case of names
	Body        []byte              // its beginning: decompressed, or gzip as sent
	ContentType string              // "" takes the header's
	Truncated   bool                // Body is not the whole body
	Failure     Failure             // set when there is no final answer
	Fetched     time.Time           // when the answer came
	Sitemaps    []SitemapListing    // of URL
	Config      []Configured        // of URL
	Hosts       []string            // of the site, without "www.": URLs on them did not leak from anywhere
	Along       map[Key]Told        // of the URLs that redirects led through and to
	After       int                 // bytes to look at after the head's end; 0 is MaxAfter, negative none
}

// header lists the values of a field; the map's names may have any case.
func header(h map[string][]string, canonicalName string) []string {
	if v, ok := h[canonicalName]; ok {
		return v
	}
	for name, v := range h {
		if equalFold(name, canonicalName) {
			return v
		}
	}
	return nil
}

func firstHeader(h map[string][]string, canonicalName string) string {
	if v := header(h, canonicalName); len(v) > 0 {
		return v[0]
	}
	return ""
}

// equalFold compares ASCII without regard to case.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		x, y := a[i], b[i]
		if x != y && (x|0x20 != y|0x20 || x|0x20 < 'a' || x|0x20 > 'z') {
			return false
		}
	}
	return true
}
