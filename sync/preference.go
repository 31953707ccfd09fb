package syncer

import (
	"bytes"
	"context"
	"strings"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// systemStorage gives what a site's own system states of its pages.
type systemStorage interface {
	ConfiguredCanonicals(ctx context.Context, siteID int64, keys []models.Key) ([]models.ConfiguredCanonical, error)
}

// operator is who states what the settings of a site prefer.
const operator = "operator"

// configured gives what the settings of a site, and the system behind it, state of a page outside of the page itself.
func (v *visit) configured(ctx context.Context, key models.Key, page string) ([]canonical.Configured, error) {
	var out []canonical.Configured
	if to, differs := Preferred(v.site, page); differs {
		out = append(out, canonical.Configured{URL: to, System: operator})
	}
	stated, err := v.o.Store.ConfiguredCanonicals(ctx, v.site.ID, []models.Key{key})
	if err != nil {
		return nil, err
	}
	for _, c := range stated {
		out = append(out, canonical.Configured{URL: c.Canonical, System: orElse(c.System, "plugin"), Derived: !c.Explicit})
	}
	return out, nil
}

// Preferred is the form of one of the site's own URLs that its owner prefers, and whether it is another than the URL's
// own. A URL that has the form is said nothing of: that it is preferred to others of its form is not for a rule to say.
func Preferred(site models.Site, page string) (string, bool) {
	s := site.Settings
	if s.PreferredScheme == "" && s.PreferredHost == "" && s.TrailingSlash == "" {
		return "", false
	}
	u, problem := weburl.Parse(nil, []byte(page))
	if problem != weburl.None || !ownHosts(site)[authorityOf(u.Identity)] && !strings.EqualFold(string(u.Host), s.PreferredHost) {
		return "", false
	}
	wire, _, _ := bytes.Cut(u.Wire, []byte("#"))
	scheme, rest, ok := bytes.Cut(wire, []byte("://"))
	if !ok {
		return "", false
	}
	authority, rest, _ := bytes.Cut(rest, []byte("/"))
	path, query, asks := bytes.Cut(rest, []byte("?"))
	to := models.SiteSettings{PreferredScheme: string(scheme), PreferredHost: string(authority)}
	if s.PreferredHost != "" {
		to.PreferredHost = s.PreferredHost
	}
	// A port of its own belongs to the scheme that it was published with.
	if s.PreferredScheme != "" && (s.PreferredHost != "" || !strings.Contains(to.PreferredHost, ":")) {
		to.PreferredScheme = s.PreferredScheme
	}
	form := to.PreferredScheme + "://" + to.PreferredHost + "/" + slashed(string(path), s.TrailingSlash)
	if asks {
		form += "?" + string(query)
	}
	other, problem := weburl.Parse(nil, []byte(form))
	return form, problem == weburl.None && other.Key() != u.Key()
}

// slashed gives a path, without its first slash, the ending that is preferred. Files, which have a dot in their name, have
// none.
func slashed(path, policy string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	switch {
	case policy == models.SlashAdd && name != "" && !strings.Contains(name, "."):
		return path + "/"
	case policy == models.SlashRemove:
		return strings.TrimSuffix(path, "/")
	}
	return path
}
