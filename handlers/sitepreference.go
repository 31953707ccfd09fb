package handlers

import (
	"net/url"
	"slices"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

// SitePreference is what an owner states of the form of a site's URLs: evidence of the method
// structured_system_configuration for every listed URL that has another form.
type SitePreference struct {
	PreferredScheme *string `json:"preferred_scheme,omitempty" enum:",http,https" doc:"Scheme that the owner prefers; empty for none."`
	PreferredHost   *string `json:"preferred_host,omitempty" maxLength:"255" doc:"Host that the owner prefers, with a port only where it is unusual; empty for none." example:"www.example.com"`
	TrailingSlash   *string `json:"trailing_slash,omitempty" enum:",add,remove" doc:"Whether addresses without a file's name end in a slash; empty: nothing is stated."`
}

// Values of two of them; the API's own check knows them too, forms have none but this.
var (
	preferredSchemes = []string{"", "http", "https"}
	trailingSlashes  = []string{"", "add", "remove"}
)

func (p *SitePreference) applyPreference(to *models.SiteSettings) error {
	if p.PreferredScheme != nil && !slices.Contains(preferredSchemes, *p.PreferredScheme) {
		return models.Invalid("body.preferred_scheme", "http, https or empty", "%.80q is no scheme of pages", *p.PreferredScheme)
	}
	if p.TrailingSlash != nil && !slices.Contains(trailingSlashes, *p.TrailingSlash) {
		return models.Invalid("body.trailing_slash", "add, remove or empty", "%.80q says nothing about a slash", *p.TrailingSlash)
	}
	if p.PreferredScheme != nil {
		to.PreferredScheme = *p.PreferredScheme
	}
	if p.TrailingSlash != nil {
		to.TrailingSlash = *p.TrailingSlash
	}
	if p.PreferredHost == nil {
		return nil
	}
	host := strings.ToLower(strings.TrimSpace(*p.PreferredHost))
	if u, err := url.Parse("https://" + host + "/"); host != "" && (err != nil || u.Host != host || u.Hostname() == "" || strings.ContainsAny(host, " /@?#*")) {
		return models.Invalid("body.preferred_host", "for example www.example.com", "%.80q is no host name", *p.PreferredHost)
	}
	to.PreferredHost = host
	return nil
}
