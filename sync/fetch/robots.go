package fetch

import (
	"bytes"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxRobots is what RFC 9309 section 2.5 asks a parser to read at least.
const maxRobots = 500 << 10

// RobotsRules are what a robots.txt says to one agent (RFC 9309). The nil value
// and the zero value allow everything.
type RobotsRules struct {
	rules      []robotsRule
	crawlDelay time.Duration
	sitemaps   []string
	denyAll    bool
}

type robotsRule struct {
	pattern string // normalised; may hold * and a final $
	allow   bool
}

// DenyAll are the rules of a host whose robots.txt is unreachable.
func DenyAll() *RobotsRules { return &RobotsRules{denyAll: true} }

// ParseRobots reads body for agent, a product token such as "sitemapd". It
// accepts what is found in practice: any line end, a BOM, comments, unknown
// lines, missing colons and common misspellings. It never fails.
func ParseRobots(body []byte, agent string) *RobotsRules {
	if len(body) > maxRobots {
		body = body[:maxRobots]
	}
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	agent = strings.ToLower(agent)
	p := robotsParser{agent: agent}
	for len(body) > 0 {
		end := bytes.IndexAny(body, "\r\n")
		line := body
		if end < 0 {
			body = nil
		} else {
			line, body = body[:end], body[end+1:]
		}
		p.line(string(line))
	}
	r := &RobotsRules{sitemaps: p.sitemaps}
	group := p.any
	if p.named.seen {
		group = p.named
	}
	r.rules, r.crawlDelay = group.rules, group.delay
	return r
}

type robotsGroup struct {
	seen  bool
	rules []robotsRule
	delay time.Duration
}

type robotsParser struct {
	agent            string
	any, named       robotsGroup
	inAny, inNamed   bool
	inRules, inGroup bool
	sitemaps         []string
}

func (p *robotsParser) line(line string) {
	if i := strings.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	line = strings.TrimSpace(line)
	name, value, ok := strings.Cut(line, ":")
	if !ok { // "Disallow /private" is common enough
		if i := strings.IndexAny(line, " \t"); i > 0 {
			name, value = line[:i], line[i:]
		}
	}
	value = strings.TrimSpace(value)
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "user-agent", "useragent", "user agent":
		p.userAgent(value)
	case "allow":
		p.rule(value, true)
	case "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
		p.rule(value, false)
	case "crawl-delay", "crawldelay":
		p.delay(value)
	case "sitemap", "site-map":
		if value != "" {
			p.sitemaps = append(p.sitemaps, value)
		}
	}
}

func (p *robotsParser) userAgent(value string) {
	// Lines that are no rules do not end a row of user-agent lines (section 2.2.1).
	if p.inRules || !p.inGroup {
		p.inAny, p.inNamed, p.inRules = false, false, false
	}
	p.inGroup = true
	if value == "*" || strings.HasPrefix(value, "* ") || strings.HasPrefix(value, "*\t") {
		p.inAny, p.any.seen = true, true
		return
	}
	if strings.ToLower(productToken(value)) == p.agent {
		p.inNamed, p.named.seen = true, true
	}
}

// productToken is the leading run of letters, - and _ (section 2.2.1), so that
// "sitemapd/1.0" still means sitemapd and "site" does not.
func productToken(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && s[i] != '-' && s[i] != '_' {
			return s[:i]
		}
	}
	return s
}

func (p *robotsParser) rule(value string, allow bool) {
	p.inRules = true
	if !p.inGroup || value == "" {
		return // before any group, or "Disallow:" which forbids nothing
	}
	rule := robotsRule{pattern: normalisePath(value), allow: allow}
	if p.inAny {
		p.any.rules = append(p.any.rules, rule)
	}
	if p.inNamed {
		p.named.rules = append(p.named.rules, rule)
	}
}

func (p *robotsParser) delay(value string) {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(seconds) || seconds < 0 {
		return
	}
	delay := time.Duration(min(seconds, 24*3600) * float64(time.Second))
	if p.inAny {
		p.any.delay = delay
	}
	if p.inNamed {
		p.named.delay = delay
	}
}

// CrawlDelay is the group's, 0 without one, at most a day.
func (r *RobotsRules) CrawlDelay() time.Duration {
	if r == nil {
		return 0
	}
	return r.crawlDelay
}

// Sitemaps are the values of all Sitemap lines as written, in order.
func (r *RobotsRules) Sitemaps() []string {
	if r == nil {
		return nil
	}
	return r.sitemaps
}

// Allowed reports whether target, a URL or a path with query, may be fetched:
// the longest matching pattern decides, Allow wins a tie (section 2.2.2), and
// /robots.txt itself is always allowed. What is no URL is not allowed.
func (r *RobotsRules) Allowed(target string) bool {
	u, err := url.Parse(target)
	if err != nil {
		return false
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if path == "/robots.txt" || r == nil {
		return true
	}
	if r.denyAll {
		return false
	}
	if u.RawQuery != "" || u.ForceQuery {
		path += "?" + u.RawQuery
	}
	path = normalisePath(path)
	allowed, longest := true, -1
	for _, rule := range r.rules {
		n := len(rule.pattern)
		if n < longest || (n == longest && !rule.allow) {
			continue
		}
		if matchPath(rule.pattern, path) {
			allowed, longest = rule.allow, n
		}
	}
	return allowed
}

// matchPath matches from the start; * is any run, a final $ the end.
func matchPath(pattern, path string) bool {
	anchored := strings.HasSuffix(pattern, "$")
	pattern = strings.TrimSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(path, parts[0]) {
		return false
	}
	path = path[len(parts[0]):]
	if len(parts) == 1 {
		return !anchored || path == ""
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(path, part)
		if i < 0 {
			return false
		}
		path = path[i+len(part):]
	}
	if anchored {
		return strings.HasSuffix(path, last)
	}
	return strings.Contains(path, last)
}

const upperHex = "0123456789ABCDEF"

// normalisePath brings percent-encoding to one form (section 2.2.2): unreserved
// octets decoded, other hex in upper case, octets beyond ASCII encoded.
func normalisePath(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				c, i = byte(v), i+2
				if isUnreserved(c) {
					b.WriteByte(c)
				} else {
					b.WriteByte('%')
					b.WriteByte(upperHex[c>>4])
					b.WriteByte(upperHex[c&15])
				}
				continue
			}
		}
		if c >= 0x80 || c <= ' ' {
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}
