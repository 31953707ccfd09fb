package handlers

import (
	"net/url"
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

func (p *SitePreference) applyPreference(to *models.SiteSettings) error {
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
