package canonical

import (
	"strings"
	"time"
)

// Robots is what all robots directives of a page come to: of rules that
// differ the most restrictive counts, and a directive counts wherever in the
// document it stands (Google, "robots meta tag").
type Robots struct {
	NoIndex     bool     `json:"noindex,omitempty"`
	NoIndexFrom []string `json:"noindex_from,omitempty"` // meta, header; with ":agent" where it is for one crawler
	NoFollow    bool     `json:"nofollow,omitempty"`
	// UnavailableAfter is the instant after which the page asks to leave the
	// index; NoIndex is set once the fetch came later.
	UnavailableAfter time.Time `json:"unavailable_after,omitzero"`
}

// Directive is one robots rule, for one crawler or ("") for all.
type Directive struct {
	Agent string // lower case
	Name  string // lower case
	Value string
}

// maxDirectives bounds the rules read of one header value or meta element.
const maxDirectives = 64

// withValue are the directives that take a value after a colon.
var withValue = map[string]bool{"max-snippet": true, "max-image-preview": true, "max-video-preview": true, "unavailable_after": true}

// bareDirectives are the names that need no value; they tell a date's tail from a rule.
var bareDirectives = map[string]bool{"all": true, "noindex": true, "nofollow": true, "none": true, "noarchive": true, "nosnippet": true,
	"noimageindex": true, "notranslate": true, "indexifembedded": true, "index": true, "follow": true, "noodp": true, "noydir": true,
	"nocache": true, "nositelinkssearchbox": true}

// ParseRobots reads the content of a robots meta element or an X-Robots-Tag
// value. In a header, "agent:" addresses the rules that follow it.
func ParseRobots(content string, inHeader bool) []Directive {
	var out []Directive
	agent, rest := "", clip(content, MaxRaw)
	for rest != "" && len(out) < maxDirectives {
		var part string
		part, rest, _ = strings.Cut(rest, ",")
		part = strings.TrimSpace(part)
		for inHeader { // "googlebot: noindex", also "googlebot: otherbot: noindex"
			name, tail, ok := strings.Cut(part, ":")
			name = strings.ToLower(strings.TrimSpace(name))
			if !ok || withValue[name] || name == "" || strings.ContainsAny(name, " \t") {
				break
			}
			agent, part = name, strings.TrimSpace(tail)
		}
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if name == "unavailable_after" { // RFC 822 and 850 dates hold a comma
			for rest != "" {
				next, tail, _ := strings.Cut(rest, ",")
				word, _, _ := strings.Cut(strings.TrimSpace(next), ":")
				word = strings.ToLower(strings.TrimSpace(word))
				if bareDirectives[word] || withValue[word] {
					break
				}
				value, rest = value+","+next, tail
			}
		}
		out = append(out, Directive{Agent: agent, Name: name, Value: value})
	}
	return out
}

// majorAgents are the crawlers whose rule makes a page unlisted for the readers of these reports.
var majorAgents = map[string]bool{"": true, "robots": true, "googlebot": true, "bingbot": true}

// add takes one directive into account, from meta or header.
func (r *Robots) add(d Directive, from string, fetched time.Time) (counts bool) {
	if !majorAgents[d.Agent] {
		return false
	}
	switch d.Name {
	case "none":
		r.NoFollow = true
		r.forbid(d.Agent, from)
	case "noindex":
		r.forbid(d.Agent, from)
	case "nofollow":
		r.NoFollow = true
	case "unavailable_after":
		t := robotsTime(d.Value)
		if t.IsZero() {
			break
		}
		if r.UnavailableAfter.IsZero() || t.Before(r.UnavailableAfter) {
			r.UnavailableAfter = t
		}
		if fetched.After(t) {
			r.forbid(d.Agent, from)
		}
	}
	return true
}

func (r *Robots) forbid(agent, from string) {
	r.NoIndex = true
	if agent != "" && agent != "robots" {
		from += ":" + agent
	}
	for _, f := range r.NoIndexFrom {
		if f == from {
			return
		}
	}
	r.NoIndexFrom = append(r.NoIndexFrom, from)
}

// robotsTime reads RFC 822, RFC 850 and ISO 8601 dates, zero if it is none.
func robotsTime(s string) time.Time {
	s = strings.TrimSpace(s)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02", time.RFC1123, time.RFC1123Z,
		time.RFC850, time.RFC822, time.RFC822Z, "02 Jan 2006 15:04:05 MST", "02-Jan-2006 15:04:05 MST", "Monday, 02 Jan 2006 15:04:05 MST",
		"Monday, 02-Jan-06 15:04:05 MST", "2 Jan 2006 15:04:05 MST", "02-Jan-06 15:04:05 MST"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// ParseRefresh reads a Refresh header or the content of a meta refresh by the
// shared declarative refresh steps of WHATWG HTML 4.2.5.3. Without a URL the
// page reloads itself. The unit of delay is a second.
func ParseRefresh(s string) (delay int, url string, ok bool) {
	const space = " \t\n\r\f"
	s = strings.TrimLeft(clip(s, 2*MaxRaw), space)
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		if delay < 1<<24 {
			delay = delay*10 + int(s[n]-'0')
		}
		n++
	}
	if n == 0 && (s == "" || s[0] != '.') {
		return 0, "", false
	}
	s = strings.TrimLeft(s[n:], "0123456789.")
	if s == "" {
		return delay, "", true
	}
	if !strings.ContainsRune(space+";,", rune(s[0])) {
		return 0, "", false
	}
	s = strings.TrimLeft(s, space)
	if s != "" && (s[0] == ';' || s[0] == ',') {
		s = s[1:]
	}
	s = strings.TrimLeft(s, space)
	if len(s) >= 3 && equalFold(s[:3], "url") {
		if t := strings.TrimLeft(s[3:], space); t != "" && t[0] == '=' {
			s = strings.TrimLeft(t[1:], space)
		}
	}
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		q := s[0]
		s = s[1:]
		if i := strings.IndexByte(s, q); i >= 0 {
			s = s[:i]
		}
	}
	return delay, strings.TrimRight(s, space), true
}
