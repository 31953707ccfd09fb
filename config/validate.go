package config

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/sync/schedule"
)

// Validate checks a configuration that was made or changed in code; Load has done it already.
func (c Config) Validate() error {
	problems := &Problems{}
	c.check(problems)
	return problems.orNil()
}

// checker collects what is wrong, at most one problem a key.
type checker struct {
	origins  map[string]string
	problems *Problems
}

func (c Config) check(problems *Problems) {
	k := checker{c.origins, problems}
	k.database(c.Database)
	k.address("listen", c.Listen)
	if c.PublicURL != "" {
		k.webURL("public_url", c.PublicURL)
	}
	if c.Tracing.Endpoint != "" {
		k.webURL("tracing.endpoint", c.Tracing.Endpoint)
	}
	k.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	k.oneOf("log.format", c.Log.Format, "auto", "text", "json")
	k.fetch(c.Fetch)
	k.sync(c.Sync)
	k.verify(c.Verify)
	k.http(c.HTTP)
	k.notify(c.Notify)
	k.mail(c.Mail)
	k.sites(c.Sites, c.Sync)
}

func (k checker) add(key, hint, text string, args ...any) {
	if !k.problems.has(key) {
		k.problems.add(where(k.origins, key), key, hint, text, args...)
	}
}

// database checks the form alone: whether the server answers is the store's matter. No
// message holds the value, which may hold a password.
func (k checker) database(text string) {
	const form = "write sqlite:PATH or mysql://USER:PASSWORD@HOST:PORT/NAME"
	if path, found := strings.CutPrefix(text, "sqlite:"); found {
		if path == "" {
			k.add("database", form, "names no file")
		}
		return
	}
	scheme, _, found := strings.Cut(text, ":")
	switch {
	case !found:
		k.add("database", form, "does not say which database it is")
		return
	case scheme == "mariadb":
		k.add("database", "MariaDB is reached by mysql://", "%q is no database that is known", scheme)
		return
	case scheme != "mysql":
		k.add("database", form, "%q is no database that is known", scheme)
		return
	}
	dsn, err := url.Parse(text)
	switch {
	case err != nil:
		k.add("database", "write special characters of the password as %XX", "cannot be read as mysql://USER:PASSWORD@HOST:PORT/NAME")
	case dsn.Hostname() == "":
		k.add("database", form, "names no host")
	case dsn.User == nil || dsn.User.Username() == "":
		k.add("database", form, "names no user")
	case strings.Trim(dsn.Path, "/") == "":
		k.add("database", form, "names no database on the server")
	}
}

func (k checker) address(key, text string) {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		k.add(key, "write HOST:PORT, for example 127.0.0.1:8080", "%q is no address", text)
	}
}

func (k checker) webURL(key, text string) {
	if err := webURL(text); err != nil {
		k.add(key, "write for example https://example.com", "%q %s", text, err)
	}
}

func webURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("is no URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("does not begin with https:// or http://")
	case u.Hostname() == "":
		return errors.New("names no host")
	case u.User != nil:
		return errors.New("holds a user name; username and password are settings of their own")
	case u.Fragment != "":
		return errors.New("has a fragment (#)")
	}
	return nil
}

func (k checker) oneOf(key, text string, words ...string) {
	if !slices.Contains(words, text) {
		k.add(key, "", "%q is none of %s", text, strings.Join(words, ", "))
	}
}

func (k checker) number(key string, n, least, most int) {
	if n < least || n > most {
		k.add(key, "", "%d is not within %d to %d", n, least, most)
	}
}

func (k checker) duration(key string, d, least, most time.Duration) {
	if d < least || d > most {
		k.add(key, "", "%s is not within %s to %s", formatDuration(d), formatDuration(least), formatDuration(most))
	}
}

func (k checker) size(key string, b, least, most Bytes) {
	if b < least || b > most {
		k.add(key, "", "%s is not within %s to %s", b, least, most)
	}
}

func (k checker) fetch(f Fetch) {
	if f.UserAgent == "" || strings.ContainsFunc(f.UserAgent, func(r rune) bool { return r < ' ' || r > '~' }) {
		k.add("fetch.user_agent", "", "%q is no user agent: letters, digits and signs of ASCII are", f.UserAgent)
	}
	if f.Contact != "" && webURL(f.Contact) != nil {
		if address, err := mail.ParseAddress(f.Contact); err != nil || address.Address != f.Contact {
			k.add("fetch.contact", "", "%q is neither a URL nor a mail address", f.Contact)
		}
	}
	for _, prefix := range f.AllowPrivate {
		if prefix.Bits() == 0 {
			k.add("fetch.allow_private", "name the networks that are meant", "%s would allow every address", prefix)
		}
	}
	if len(f.Ports) == 0 {
		k.add("fetch.ports", "", "names no port")
	}
	k.number("fetch.per_host", f.PerHost, 1, 16)
	k.number("fetch.retries", f.Retries, 0, 10)
	k.duration("fetch.timeout", f.Timeout, time.Second, time.Hour)
	k.duration("fetch.page_timeout", f.PageTimeout, time.Second, time.Hour)
	k.duration("fetch.header_timeout", f.HeaderTimeout, time.Second, time.Hour)
	k.duration("fetch.page_delay", f.PageDelay, 0, time.Hour)
	k.size("fetch.max_document_bytes", f.MaxDocumentBytes, 64*KiB, GiB)
	k.size("fetch.max_page_bytes", f.MaxPageBytes, 64*KiB, 64*MiB)
}

const (
	day  = 24 * time.Hour
	year = 366 * day
)

func (k checker) sync(s Sync) {
	k.schedule("sync.", s.Schedule, s.TimeZone)
	k.duration("sync.jitter", s.Jitter, 0, day)
	k.duration("sync.confirm_after", s.ConfirmAfter, time.Second, 30*day)
	k.duration("sync.release_after", s.ReleaseAfter, 0, year)
	k.duration("sync.quiet", s.Quiet, 0, day)
	k.maxWait("sync.", s.MaxWait, s.Quiet)
	k.retention("sync.retention", s.Retention)
	k.number("sync.guard_pages", s.GuardPages, 1, 1_000_000_000)
	k.number("sync.guard_percent", s.GuardPercent, 1, 100)
	k.number("sync.sites_at_once", s.SitesAtOnce, 1, 256)
	k.number("sync.workers", s.Workers, 1, 64)
	k.number("sync.max_depth", s.MaxDepth, 1, 16)
	k.number("sync.max_documents", s.MaxDocuments, 1, 1_000_000)
	k.duration("sync.lease_ttl", s.LeaseTTL, 15*time.Second, time.Hour)
}

func (k checker) maxWait(prefix string, maxWait, quiet time.Duration) {
	if maxWait < quiet {
		k.add(prefix+"max_wait", "", "%s is shorter than quiet, which is %s", formatDuration(maxWait), formatDuration(quiet))
	}
	k.duration(prefix+"max_wait", maxWait, time.Second, day)
}

// retention is off, or long enough that a slip of the pen costs no history of today.
func (k checker) retention(key string, d time.Duration) {
	if d != 0 {
		k.duration(key, d, day, 36500*day)
	}
}

// schedule takes the zone first: the schedule is only judged in one that exists.
func (k checker) schedule(prefix, spec, zone string) {
	if _, err := schedule.Zone(zone); err != nil {
		k.add(prefix+"time_zone", "", "%s", err)
		zone = ""
	}
	if _, err := schedule.Parse(spec, zone); err != nil {
		k.add(prefix+"schedule", "", "%s", err)
	}
}

func (k checker) verify(v Verify) {
	k.number("verify.per_day", v.PerDay, 1, 1_000_000)
	k.duration("verify.delay", v.Delay, 0, 10*time.Minute)
}

func (k checker) http(h HTTP) {
	k.number("http.rate_per_minute", h.RatePerMinute, 1, 1_000_000)
	k.duration("http.shutdown_timeout", h.ShutdownTimeout, time.Second, 10*time.Minute)
	if h.UserHeader == "" {
		return
	}
	switch {
	case strings.ContainsFunc(h.UserHeader, notInHeaderName):
		k.add("http.user_header", "write for example Remote-User", "%q is no header", h.UserHeader)
	case len(h.TrustedProxies) == 0:
		k.add("http.user_header", "name the proxy in http.trusted_proxies",
			"anybody could log in by %s: no proxy is trusted to set it", h.UserHeader)
	}
	for _, prefix := range h.TrustedProxies {
		if prefix.Bits() == 0 {
			k.add("http.trusted_proxies", "name the proxy", "%s would let anybody name the user in %s", prefix, h.UserHeader)
		}
	}
}

func notInHeaderName(r rune) bool {
	return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

func (k checker) sites(sites []Site, otherwise Sync) {
	names, homes := map[string]int{}, map[string]int{}
	for i, site := range sites {
		prefix := siteKey(i) + "."
		k.site(prefix, site)
		if site.Schedule != otherwise.Schedule || site.TimeZone != otherwise.TimeZone { // else it was judged as sync.schedule
			k.schedule(prefix, site.Schedule, site.TimeZone)
		}
		if first, taken := homes[site.URL]; taken && site.URL != "" {
			k.add(prefix+"url", "", "%q is listed already, as %s", site.URL, siteKey(first))
			continue
		}
		homes[site.URL] = i
		if first, taken := names[site.Name]; taken && site.Name != "" {
			k.add(prefix+"name", "give one of them another name", "%q is the name of %s already", site.Name, siteKey(first))
			continue
		}
		names[site.Name] = i
	}
}

// What a tag may be, as models.CleanTags has it, which this package must not know.
var tagForm = regexp.MustCompile(`^[\pL\pM\pN_.:-][\pL\pM\pN _.:-]{0,39}$`)

const mostTags = 10

func (k checker) site(prefix string, site Site) {
	if site.URL == "" {
		k.add(prefix+"url", "write the home page, for example url: https://example.com", "is missing")
	} else {
		k.webURL(prefix+"url", site.URL)
	}
	if !validName(site.Name) && webURL(site.URL) == nil {
		k.add(prefix+"name", "", "%q is no name: letters, digits, dots, - and _ are, not digits alone", site.Name)
	}
	for _, root := range site.Roots {
		if err := webURL(root); err != nil {
			k.add(prefix+"roots", "write for example https://example.com/sitemap.xml", "%q %s", root, err)
		}
	}
	for _, host := range site.Hosts {
		if !validHost(host) {
			k.add(prefix+"hosts", "write for example cdn.example.com", "%q is no host name", host)
		}
	}
	for _, tag := range site.Tags {
		if !tagForm.MatchString(tag) {
			k.add(prefix+"tags", "write for example [clients, de]", "%.60q is no tag: 1 to 40 letters, digits, blanks and - _ . : are", tag)
		}
	}
	if len(site.Tags) > mostTags {
		k.add(prefix+"tags", "", "are %d, more than %d", len(site.Tags), mostTags)
	}
	k.preference(prefix, site)
	k.duration(prefix+"confirm_after", site.ConfirmAfter, 0, 30*day)
	k.duration(prefix+"release_after", site.ReleaseAfter, 0, year)
	k.duration(prefix+"quiet", site.Quiet, 0, day)
	k.retention(prefix+"retention", site.Retention)
	if site.MaxWait != 0 {
		k.maxWait(prefix, site.MaxWait, site.Quiet)
	}
	if (site.Username == "") != (site.Password == "") {
		k.add(prefix+"username", "", "and password belong together: one of them is missing")
	}
}

// portOf is a host's port with its colon, "" where it has none.
func portOf(host string) string {
	if u, err := url.Parse("https://" + host + "/"); err == nil && u.Port() != "" {
		return ":" + u.Port()
	}
	return ""
}

// preference checks what an owner states of the form of URLs.
func (k *checker) preference(prefix string, site Site) {
	switch site.PreferredScheme {
	case "", "http", "https":
	default:
		k.add(prefix+"preferred_scheme", "write http or https", "%q is no scheme of pages", site.PreferredScheme)
	}
	if host := site.PreferredHost; host != "" && !validHost(strings.TrimSuffix(host, portOf(host))) {
		k.add(prefix+"preferred_host", "write for example www.example.com", "%q is no host name", site.PreferredHost)
	}
	switch site.TrailingSlash {
	case "", "add", "remove":
	default:
		k.add(prefix+"trailing_slash", "write add or remove, or leave it out", "%q is no policy", site.TrailingSlash)
	}
}

// validName keeps names apart from ids (digits alone), URLs and paths, all of which may
// name a site on the command line.
func validName(name string) bool {
	digits := true
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_' || r == '.' || r == ':' || r > '~'
		if !letter && (r < '0' || r > '9') {
			return false
		}
		digits = digits && !letter
	}
	return name != "" && !digits && len(name) <= 190
}

func validHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	u, err := url.Parse(fmt.Sprintf("https://%s/", host))
	return err == nil && host != "" && u.Host == host && u.Port() == "" && !strings.ContainsAny(host, " /@:?#*")
}
