package canonical

import (
	"bytes"
	"strings"
	"time"
)

// Reading says what kind of look at the page an answer was: only ReadingRead
// and ReadingNotModified let a declaration's presence or absence be judged.
type Reading string

// The readings.
const (
	ReadingRead        Reading = "read"         // 2xx, understood as far as the head, or a non-HTML answer whose header was read
	ReadingNotModified Reading = "not_modified" // 304
	ReadingRedirect    Reading = "redirect"     // this URL redirects
	ReadingGone        Reading = "gone"         // 404, 410
	ReadingError       Reading = "error"        // other 4xx
	ReadingDenied      Reading = "denied"       // 401, 403, 407, 451
	ReadingTempFail    Reading = "tempfail"     // 5xx, 429, 408
	ReadingMaintenance Reading = "maintenance"  // 503 with Retry-After
	ReadingChallenge   Reading = "challenge"    // bot wall, login or consent page instead of the page
	ReadingRobots      Reading = "robots"       // robots.txt forbids to look
	ReadingUnreachable Reading = "unreachable"  // no answer
	ReadingUnverified  Reading = "unverified"   // the address guard refused, or too many redirects
	ReadingTruncated   Reading = "truncated"    // ends before the head does
	ReadingEmpty       Reading = "empty"        // 2xx with nothing in it, which a program that died leaves behind
	ReadingUndecodable Reading = "undecodable"  // coded in a way that is not understood
	ReadingNonHTML     Reading = "non_html"     // no HTML, and no Link header declared anything
	ReadingNone        Reading = "never"        // not fetched yet
)

// Clean says whether the answer may be taken as the page's own word on what it
// declares, presence and absence alike.
func (r Reading) Clean() bool { return r == ReadingRead || r == ReadingNonHTML }

// statusReading judges the status alone.
func statusReading(r *Response) Reading {
	switch s := r.Status; {
	case r.Failure == FailureRobots, r.Failure == FailureNoRobots:
		return ReadingRobots
	case r.Failure == FailureAddress, r.Failure == FailureRedirects:
		return ReadingUnverified
	case r.Failure != "" || s == 0:
		return ReadingUnreachable
	case s == 304:
		return ReadingNotModified
	case s >= 200 && s < 300:
		return ReadingRead
	case s >= 300 && s < 400:
		return ReadingRedirect
	case s == 404 || s == 410:
		return ReadingGone
	case s == 401, s == 403, s == 407, s == 451:
		return ReadingDenied
	case s == 503 && firstHeader(r.Header, "Retry-After") != "":
		return ReadingMaintenance
	case s == 408, s == 429, s >= 500:
		return ReadingTempFail
	}
	return ReadingError
}

// challengeSign is one mark by which a page is known to stand in another's place.
type challengeSign struct {
	name   string
	header string // field, its value holds text (any value where text is "")
	text   string // lower case; in the header's value, else in the first 64 KiB of the body
}

// challengeSigns are marks of widespread bot walls, taken from their own
// public documentation and pages; a theme's own words would be too weak a sign.
var challengeSigns = []challengeSign{
	{"cloudflare challenge", "Cf-Mitigated", "challenge"},
	{"cloudflare challenge", "", "/cdn-cgi/challenge-platform/h/"},
	{"cloudflare challenge", "", "<title>just a moment...</title>"},
	{"cloudflare block", "", "<title>attention required! | cloudflare</title>"},
	{"aws waf challenge", "X-Amzn-Waf-Action", ""},
	{"sucuri firewall", "", "sucuri_cloudproxy_js"},
	{"sucuri firewall", "", "<title>sucuri website firewall - access denied</title>"},
	{"imperva incapsula", "", "_incapsula_resource"},
	{"datadome", "", "captcha-delivery.com"},
	{"perimeterx", "", "px-captcha"},
	{"wordfence block", "", "<title>your access to this site has been limited"},
	{"siteground captcha", "Sg-Captcha", "challenge"},
	{"siteground captcha", "", "/.well-known/sgcaptcha/"},
	{"wordpress login", "", `<form name="loginform" id="loginform"`},
	{"wordpress maintenance", "", "briefly unavailable for scheduled maintenance. check back in a minute."},
}

// challengeByHeader names the sign in the header, or in where a redirect led,
// that the answer is a bot wall, login or consent page; "" if there is none.
func challengeByHeader(r *Response) string {
	for _, s := range challengeSigns {
		if s.header != "" {
			if v := firstHeader(r.Header, s.header); v != "" && strings.Contains(strings.ToLower(v), s.text) {
				return s.name
			}
		}
	}
	if len(r.Hops) > 0 {
		to := strings.ToLower(r.FinalURL)
		switch {
		case strings.Contains(to, "/wp-login.php?"):
			return "wordpress login"
		case strings.Contains(to, "://consent."):
			return "consent page"
		}
	}
	return ""
}

// challengeByBody looks for a sign in the body. Bot walls are short; a long
// page that quotes one is no wall.
func challengeByBody(body []byte) string {
	if len(body) > 64<<10 {
		return ""
	}
	low := bytes.ToLower(body)
	for _, s := range challengeSigns {
		if s.header == "" && bytes.Contains(low, []byte(s.text)) {
			return s.name
		}
	}
	return ""
}

// Generation is the instant at which the origin made the answer: Date less Age
// (RFC 9111 section 4.2.3). Zero if the answer does not tell. An answer older
// than one already seen comes from a cache that lags and is out of order.
func (r *Response) Generation() time.Time {
	at := httpTime(firstHeader(r.Header, "Date"))
	if at.IsZero() {
		return at
	}
	age := 0
	for _, c := range strings.TrimSpace(firstHeader(r.Header, "Age")) {
		if c < '0' || c > '9' || age > 1<<30 {
			age = 0
			break
		}
		age = age*10 + int(c-'0')
	}
	return at.Add(-time.Duration(age) * time.Second)
}

// httpTime reads the three date forms of RFC 9110 section 5.6.7.
func httpTime(s string) time.Time {
	for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
