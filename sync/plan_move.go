package syncer

import (
	"net/url"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

// move is a page that lives on under another URL.
type move struct {
	from  place
	url   string
	to    models.Key
	toURL string
	by    string // what tells
}

// shift turns a URL of the site before a migration into the one after it.
type shift struct {
	name  string // what moved, for people
	apply func(u *url.URL) bool
}

// shifts are the migrations that keep path and query: another scheme, with or without "www.", another host of the site.
func shifts(hosts map[string]bool) []shift {
	out := []shift{
		{"from http to https", func(u *url.URL) bool { return replace(&u.Scheme, "http", "https") }},
		{"from https to http", func(u *url.URL) bool { return replace(&u.Scheme, "https", "http") }},
		{"to www", func(u *url.URL) bool { u.Host = "www." + u.Host; return !strings.HasPrefix(u.Host, "www.www.") }},
		{"away from www", func(u *url.URL) bool {
			host, found := strings.CutPrefix(u.Host, "www.")
			u.Host = host
			return found
		}},
		{"from http to https and to www", func(u *url.URL) bool {
			u.Host = "www." + u.Host
			return !strings.HasPrefix(u.Host, "www.www.") && replace(&u.Scheme, "http", "https")
		}},
		{"from http to https and away from www", func(u *url.URL) bool {
			host, found := strings.CutPrefix(u.Host, "www.")
			u.Host = host
			return found && replace(&u.Scheme, "http", "https")
		}},
	}
	for _, host := range sortedHosts(hosts) {
		for _, prefix := range []string{"", "www."} {
			for _, scheme := range []string{"https", "http"} {
				name := "to " + scheme + "://" + prefix + host
				out = append(out, shift{name, func(u *url.URL) bool {
					changed := u.Host != prefix+host
					u.Scheme, u.Host = scheme, prefix+host
					return changed
				}})
			}
		}
	}
	return out
}

func replace(field *string, from, to string) bool {
	if *field != from {
		return false
	}
	*field = to
	return true
}

// migrated reports whether so many of the missing pages are found again that the site moved as a whole. A handful of
// coincidences on a large site is no migration.
func migrated(found, missing, known int64) bool {
	return found > 0 && found*10 >= missing*8 && missing*2 >= known
}
