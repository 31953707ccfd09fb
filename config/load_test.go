package config_test

import (
	"bytes"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"github.com/sitemapd/sitemapd/config"
)

var values = cmp.Options{cmpopts.IgnoreUnexported(config.Config{}), cmpopts.EquateEmpty(), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })}

func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func flags(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	fs := pflag.NewFlagSet("sitemapd", pflag.ContinueOnError)
	config.Flags(fs)
	config.ServeFlags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return fs
}

func load(t *testing.T, fs *pflag.FlagSet, environ func(string) (string, bool), file string) config.Config {
	t.Helper()
	c, err := config.Load(fs, environ, file)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoad_NothingGivesTheDefaultsWhichAreValid(t *testing.T) {
	t.Parallel()
	if err := config.Default().Validate(); err != nil {
		t.Error(err)
	}
	for name, got := range map[string]config.Config{
		"nil": load(t, nil, nil, ""), "no flag given": load(t, flags(t), env(), ""),
		"empty file": load(t, nil, nil, write(t, "c.yaml", "")), "comments": load(t, nil, nil, write(t, "c.yaml", "# nothing\n")),
		"null": load(t, nil, nil, write(t, "c.yaml", "listen:\nsync:\nsites:\nfetch:\n  allow_private:\n")),
	} {
		if diff := cmp.Diff(config.Default(), got, values); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestLoad_LaterLayersWin(t *testing.T) {
	t.Parallel()
	file := write(t, "c.yaml", "listen: 127.0.0.1:1\ndatabase: sqlite:file.db\nlog: {level: warn}\nsync: {quiet: 11s}\n")
	environ := env("SITEMAPD_LISTEN", "127.0.0.1:2", "SITEMAPD_DATABASE", "sqlite:env.db", "SITEMAPD_LOG_LEVEL", "")
	c := load(t, flags(t, "--listen", "127.0.0.1:3"), environ, file)
	want := config.Default()
	want.Listen, want.Database, want.Log.Level, want.Sync.Quiet = "127.0.0.1:3", "sqlite:env.db", "warn", 11*time.Second
	if diff := cmp.Diff(want, c, values); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[string]string{
		"listen": "--listen", "database": "SITEMAPD_DATABASE", "log.level": file + ":3", "sync.quiet": file + ":4", "log.format": "default",
	} {
		if got := c.Origin(key); got != want {
			t.Errorf("%s comes from %s, want %s", key, got, want)
		}
	}
}

func TestLoad_FileIsTheArgumentThenTheFlagThenTheVariable(t *testing.T) {
	t.Parallel()
	a, b, c := write(t, "a.yaml", "listen: a:1"), write(t, "b.yaml", "listen: b:1"), write(t, "c.yaml", "listen: c:1")
	environ := env("SITEMAPD_CONFIG", c)
	if got := load(t, flags(t, "--config", b), environ, a).Listen; got != "a:1" {
		t.Errorf("argument: %s", got)
	}
	if got := load(t, flags(t, "--config", b), environ, "").Listen; got != "b:1" {
		t.Errorf("flag: %s", got)
	}
	if got := load(t, flags(t), environ, "").Listen; got != "c:1" {
		t.Errorf("variable: %s", got)
	}
}

// A key that viper does not know from the defaults would be lost silently when only its variable is set.
func TestLoad_EveryVariableSetsItsKey(t *testing.T) {
	t.Parallel()
	asked := map[string]bool{}
	for _, test := range []struct {
		name, value string
		set         func(c *config.Config)
	}{
		{"DATABASE", "mysql://u:p@h/n", func(c *config.Config) { c.Database = "mysql://u:p@h/n" }},
		{"LISTEN", ":1", func(c *config.Config) { c.Listen = ":1" }},
		{"PUBLIC_URL", "https://s.example/x", func(c *config.Config) { c.PublicURL = "https://s.example/x" }},
		{"LOG_LEVEL", "debug", func(c *config.Config) { c.Log.Level = "debug" }},
		{"LOG_FORMAT", "json", func(c *config.Config) { c.Log.Format = "json" }},
		{"FETCH_USER_AGENT", "x", func(c *config.Config) { c.Fetch.UserAgent = "x" }},
		{"FETCH_CONTACT", "a@b.example", func(c *config.Config) { c.Fetch.Contact = "a@b.example" }},
		{"FETCH_ALLOW_PRIVATE", "10.1.2.3/8, ::1", func(c *config.Config) {
			c.Fetch.AllowPrivate = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
		}},
		{"FETCH_PORTS", "80,8443", func(c *config.Config) { c.Fetch.Ports = []uint16{80, 8443} }},
		{"FETCH_PER_HOST", "1", func(c *config.Config) { c.Fetch.PerHost = 1 }},
		{"FETCH_TIMEOUT", "90s", func(c *config.Config) { c.Fetch.Timeout = 90 * time.Second }},
		{"FETCH_PAGE_TIMEOUT", "90s", func(c *config.Config) { c.Fetch.PageTimeout = 90 * time.Second }},
		{"FETCH_HEADER_TIMEOUT", "90s", func(c *config.Config) { c.Fetch.HeaderTimeout = 90 * time.Second }},
		{"FETCH_PAGE_DELAY", "0s", func(c *config.Config) { c.Fetch.PageDelay = 0 }},
		{"FETCH_RETRIES", "0", func(c *config.Config) { c.Fetch.Retries = 0 }},
		{"FETCH_MAX_DOCUMENT_BYTES", "1GiB", func(c *config.Config) { c.Fetch.MaxDocumentBytes = config.GiB }},
		{"FETCH_MAX_PAGE_BYTES", "1 MB", func(c *config.Config) { c.Fetch.MaxPageBytes = 1_000_000 }},
		{"SYNC_SCHEDULE", "off", func(c *config.Config) { c.Sync.Schedule = "off" }},
		{"SYNC_TIME_ZONE", "Europe/Vienna", func(c *config.Config) { c.Sync.TimeZone = "Europe/Vienna" }},
		{"SYNC_JITTER", "0s", func(c *config.Config) { c.Sync.Jitter = 0 }},
		{"SYNC_CONFIRM_AFTER", "1d12h", func(c *config.Config) { c.Sync.ConfirmAfter = 36 * time.Hour }},
		{"SYNC_RELEASE_AFTER", "7d", func(c *config.Config) { c.Sync.ReleaseAfter = 168 * time.Hour }},
		{"SYNC_QUIET", "0s", func(c *config.Config) { c.Sync.Quiet = 0 }},
		{"SYNC_RETENTION", "400d", func(c *config.Config) { c.Sync.Retention = 9600 * time.Hour }},
		{"SYNC_MAX_WAIT", "2m", func(c *config.Config) { c.Sync.MaxWait = 2 * time.Minute }},
		{"SYNC_GUARD_PAGES", "1", func(c *config.Config) { c.Sync.GuardPages = 1 }},
		{"SYNC_GUARD_PERCENT", "100", func(c *config.Config) { c.Sync.GuardPercent = 100 }},
		{"SYNC_SITES_AT_ONCE", "9", func(c *config.Config) { c.Sync.SitesAtOnce = 9 }},
		{"SYNC_WORKERS", "9", func(c *config.Config) { c.Sync.Workers = 9 }},
		{"SYNC_MAX_DEPTH", "9", func(c *config.Config) { c.Sync.MaxDepth = 9 }},
		{"SYNC_MAX_DOCUMENTS", "9", func(c *config.Config) { c.Sync.MaxDocuments = 9 }},
		{"SYNC_LEASE_TTL", "30s", func(c *config.Config) { c.Sync.LeaseTTL = 30 * time.Second }},
		{"VERIFY_ENABLED", "no", func(c *config.Config) { c.Verify.Enabled = false }},
		{"VERIFY_PER_DAY", "9", func(c *config.Config) { c.Verify.PerDay = 9 }},
		{"VERIFY_DELAY", "3s", func(c *config.Config) { c.Verify.Delay = 3 * time.Second }},
		{"HTTP_OPEN_LOCAL", "no", func(c *config.Config) { c.HTTP.OpenLocal = false }},
		{"HTTP_TRUSTED_PROXIES", "172.16.0.0/12", func(c *config.Config) {
			c.HTTP.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("172.16.0.0/12")}
		}},
		{"HTTP_USER_HEADER", "Remote-User", func(c *config.Config) { c.HTTP.UserHeader = "Remote-User" }},
		{"HTTP_RATE_PER_MINUTE", "1", func(c *config.Config) { c.HTTP.RatePerMinute = 1 }},
		{"HTTP_SHUTDOWN_TIMEOUT", "1s", func(c *config.Config) { c.HTTP.ShutdownTimeout = time.Second }},
		{"NOTIFY_TIMEOUT", "5s", func(c *config.Config) { c.Notify.Timeout = 5 * time.Second }},
		{"NOTIFY_DISABLE_AFTER", "2d", func(c *config.Config) { c.Notify.DisableAfter = 48 * time.Hour }},
		{"NOTIFY_KEEP", "7d", func(c *config.Config) { c.Notify.Keep = 168 * time.Hour }},
		{"NOTIFY_ALLOW_PRIVATE", "10.0.0.0/8", func(c *config.Config) { c.Notify.AllowPrivate = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} }},
		{"NOTIFY_RULES", "alerts.yaml", func(c *config.Config) { c.Notify.Rules = "alerts.yaml" }},
		{"MAIL_SERVER", "h:25", func(c *config.Config) { c.Mail.Server = "h:25" }},
		{"MAIL_FROM", "A <a@b.example>", func(c *config.Config) { c.Mail.From = "A <a@b.example>" }},
		{"MAIL_USERNAME", "u", func(c *config.Config) { c.Mail.Username = "u" }},
		{"MAIL_PASSWORD", "p", func(c *config.Config) { c.Mail.Password = "p" }},
		{"MAIL_TLS", "tls", func(c *config.Config) { c.Mail.TLS = "tls" }},
		{"TRACING_ENDPOINT", "http://127.0.0.1:4318", func(c *config.Config) { c.Tracing.Endpoint = "http://127.0.0.1:4318" }},
		{"SITES", "https://a.example, https://b.example", func(c *config.Config) {
			c.Sites = []config.Site{
				{URL: "https://a.example", Name: "a.example", Schedule: "@hourly", TimeZone: "UTC"},
				{URL: "https://b.example", Name: "b.example", Schedule: "@hourly", TimeZone: "UTC"},
			}
		}},
	} {
		want := config.Default()
		test.set(&want)
		pairs := []string{"SITEMAPD_" + test.name, test.value}
		if test.name == "HTTP_USER_HEADER" { // refused alone
			want.HTTP.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
			pairs = append(pairs, "SITEMAPD_HTTP_TRUSTED_PROXIES", "127.0.0.1")
		}
		if test.name != "MAIL_TLS" && strings.HasPrefix(test.name, "MAIL_") { // refused alone too
			for name, value := range map[string]string{"MAIL_SERVER": "h:25", "MAIL_FROM": "A <a@b.example>", "MAIL_USERNAME": "u", "MAIL_PASSWORD": "p"} {
				if name != test.name {
					pairs = append(pairs, "SITEMAPD_"+name, value)
				}
			}
			want.Mail = config.Mail{Server: "h:25", From: "A <a@b.example>", Username: "u", Password: "p", TLS: "starttls"}
		}
		asked[test.name] = true
		if diff := cmp.Diff(want, load(t, nil, env(pairs...), ""), values); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	for _, s := range config.Settings() {
		if s.Env != "" && !asked[strings.TrimPrefix(s.Env, "SITEMAPD_")] {
			t.Errorf("%s is not tested", s.Env)
		}
	}
}

func TestLoad_RefusesBadVariablesAndFlags(t *testing.T) {
	t.Parallel()
	empty := write(t, "empty", "\n")
	for _, test := range []struct {
		environ []string
		args    []string
		want    string
	}{
		{[]string{"SITEMAPD_LISTEN", "8080"}, nil, `SITEMAPD_LISTEN: "8080" is no address (write HOST:PORT, for example 127.0.0.1:8080)`},
		{[]string{"SITEMAPD_SYNC_QUIET", "soon"}, nil, `SITEMAPD_SYNC_QUIET: "soon" is no duration (write for example 90s, 2m, 12h or 30d)`},
		{[]string{"SITEMAPD_SITES", "example.com"}, nil, `SITEMAPD_SITES: "example.com" does not begin with https:// or http:// (write for example https://example.com)`},
		{[]string{"SITEMAPD_CONFIG", "/nowhere/c.yaml"}, nil, `/nowhere/c.yaml: no such file or directory`},
		{[]string{"SITEMAPD_DATABASE_FILE", "/nowhere/dsn"}, nil, `SITEMAPD_DATABASE_FILE: read /nowhere/dsn: no such file or directory`},
		{[]string{"SITEMAPD_DATABASE_FILE", empty}, nil, `SITEMAPD_DATABASE_FILE: ` + empty + ` is empty`},
		{[]string{"SITEMAPD_DATABASE_FILE", empty, "SITEMAPD_DATABASE", "sqlite:x"}, nil, `SITEMAPD_DATABASE: is set beside SITEMAPD_DATABASE_FILE (keep one of them)`},
		{nil, []string{"--log-level", "loud"}, `--log-level: "loud" is none of debug, info, warn, error`},
		{nil, []string{"--allow-private", "10.0.0.0/33"}, `--allow-private: "10.0.0.0/33" is no network (write for example 10.1.0.0/16 or 127.0.0.1)`},
		{nil, []string{"--config", "testdata"}, `testdata: is a directory`},
		{nil, []string{"--site", "ftp://example.com"}, `--site: "ftp://example.com" does not begin with https:// or http:// (write for example https://example.com)`},
	} {
		_, err := config.Load(flags(t, test.args...), env(test.environ...), "")
		want := "the configuration has 1 problem:\n  " + test.want
		if err == nil || err.Error() != want {
			t.Errorf("%v %v: got %v, want %s", test.environ, test.args, err, want)
		}
	}
}

func TestLoad_ListsProblemsOfAllLayersAtOnce(t *testing.T) {
	t.Parallel()
	file := write(t, "c.yaml", "sync:\n  quite: 1s\n")
	_, err := config.Load(flags(t, "--listen", "80"), env("SITEMAPD_LOG_FORMAT", "xml"), file)
	want := "the configuration has 3 problems:\n  " +
		file + ":2: sync.quite: no such setting (did you mean sync.quiet?)\n  " +
		"SITEMAPD_LOG_FORMAT: \"xml\" is none of auto, text, json\n  " +
		"--listen: \"80\" is no address (write HOST:PORT, for example 127.0.0.1:8080)"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	var problem *config.Problem
	if !errors.As(err, &problem) || problem.Key != "sync.quite" || problem.Hint != "did you mean sync.quiet?" {
		t.Errorf("first problem is %+v", problem)
	}
}

func TestLoad_ReadsSecretsFromFiles(t *testing.T) {
	t.Parallel()
	secret := write(t, "dsn", "mysql://u:p@h/n\r\n")
	if got := load(t, nil, env("SITEMAPD_DATABASE_FILE", secret), "").Database; got != "mysql://u:p@h/n" {
		t.Errorf("variable: %q", got)
	}
	// A relative path in the file is taken from the file's folder.
	dir := t.TempDir()
	for name, text := range map[string]string{
		"dsn": "mysql://u:p@h/n\n", "staging": " pass word \n",
		"c.yaml": "database_file: dsn\nsites:\n  - url: https://example.com\n    username: u\n    password_file: staging\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := load(t, nil, nil, filepath.Join(dir, "c.yaml"))
	if c.Database != "mysql://u:p@h/n" || c.Sites[0].Password != " pass word " {
		t.Errorf("file: %q, %q", c.Database, c.Sites[0].Password)
	}
	// A later layer wins whatever way the earlier one was written.
	if got := load(t, nil, env("SITEMAPD_DATABASE", "sqlite:x"), filepath.Join(dir, "c.yaml")).Database; got != "sqlite:x" {
		t.Errorf("variable over file: %q", got)
	}
}

func TestLoad_SitesKeepTheirWordsAndGetTheRest(t *testing.T) {
	t.Parallel()
	file := write(t, "c.yaml", `
sync: {schedule: "0 4 * * *", time_zone: Europe/Vienna}
sites:
  - https://Example.com/Blog
  - url: https://shop.example
    name: 007-Shop
    roots: [https://shop.example/sitemap.xml, https://shop.example/news.xml]
    hosts: cdn.shop.example
    schedule: off
    confirm_after: 5m
    quiet: 30s
  - url: https://ny.example
    time_zone: America/New_York
    paused: yes
`)
	c := load(t, flags(t, "--site", "https://flag.example", "--site", "https://shop.example"), nil, file)
	want := []config.Site{
		{URL: "https://Example.com/Blog", Name: "Example.com", Schedule: "0 4 * * *", TimeZone: "Europe/Vienna"},
		{
			URL: "https://shop.example", Name: "007-Shop", Schedule: "off", TimeZone: "Europe/Vienna",
			Roots: []string{"https://shop.example/sitemap.xml", "https://shop.example/news.xml"},
			Hosts: []string{"cdn.shop.example"}, ConfirmAfter: 5 * time.Minute, Quiet: 30 * time.Second,
		},
		{URL: "https://ny.example", Name: "ny.example", Schedule: "0 4 * * *", TimeZone: "America/New_York", Paused: true},
		{URL: "https://flag.example", Name: "flag.example", Schedule: "0 4 * * *", TimeZone: "Europe/Vienna"},
	}
	if diff := cmp.Diff(want, c.Sites, values); diff != "" {
		t.Error(diff)
	}
}

func TestPrint_IsReadBackAsTheSame(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"defaults": "", "example": "../deploy/sitemapd.example.yaml", "odd": write(t, "odd.yaml", `
fetch: {user_agent: "x: y # z", contact: "https://example.com/?a=1&b=*", allow_private: [127.0.0.0/8, "::1"]}
sites: [{url: "https://example.com", name: "1e3", schedule: "*/7 * * * *", roots: ["https://example.com/a,b.xml"], paused: true}]
`)} {
		first := load(t, nil, nil, file)
		var out bytes.Buffer
		if err := first.Print(&out); err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(out.String(), "***", "secret")
		second := load(t, nil, nil, write(t, "printed.yaml", text))
		for _, c := range []*config.Config{&first, &second} {
			for i := range c.Sites {
				if c.Sites[i].Password != "" {
					c.Sites[i].Password = "secret"
				}
			}
			c.Database = config.MaskDatabase(c.Database)
		}
		if diff := cmp.Diff(first, second, values); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, text)
		}
	}
}

func TestPrint_MasksSecretsAndNamesOrigins(t *testing.T) {
	t.Parallel()
	file := write(t, "c.yaml", "sites:\n  - url: https://example.com\n    username: staging\n    password: hunter2\n")
	c := load(t, flags(t, "--log-level", "warn"), env("SITEMAPD_DATABASE", "mysql://u:hunter2@h/n"), file)
	var out bytes.Buffer
	if err := c.Print(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hunter2") {
		t.Errorf("a secret is printed:\n%s", out.String())
	}
	for _, line := range []string{
		`database: "mysql://u:***@h/n" # SITEMAPD_DATABASE`, `  level: warn # --log-level`, `    password: "***" # ` + file + `:4`,
		`  confirm_after: 2m`, `  max_document_bytes: 64MiB`, `listen: "127.0.0.1:8080"`,
	} {
		if !strings.Contains(out.String(), line+"\n") {
			t.Errorf("missing %s in\n%s", line, out.String())
		}
	}
}

func TestMaskDatabase_NeverShowsAPassword(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"sqlite:sitemapd.db":             "sqlite:sitemapd.db",
		"mysql://u:p@h:3306/n":           "mysql://u:***@h:3306/n",
		"mysql://u:p@ss:w/rd@h:3306/n":   "mysql://u:***@h:3306/n",
		"mysql://u:100%secret@h/n":       "mysql://u:***@h/n",
		"mysql://u@h/n":                  "mysql://u@h/n",
		"u:p@tcp(h:3306)/n":              "***",
		"mysql:u:p@h":                    "***",
		"postgres://u:p@h/n?x=mail@host": "postgres://u:***@host",
	} {
		if got := config.MaskDatabase(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestUnknownVariables_NamesTheMisspeltOnes(t *testing.T) {
	t.Parallel()
	got := config.UnknownVariables([]string{
		"SITEMAPD_SYNC_QUITE=1s", "SITEMAPD_DATABSE=x", "SITEMAPD_SYNC_QUIET=1s", "SITEMAPD_DATABASE_FILE=x", "SITEMAPD_CONFIG=x",
		"SITEMAPD_PORT=tcp://10.0.0.1:80", "SITEMAPD_PORT_80_TCP=tcp://10.0.0.1:80", "SITEMAPD_SERVICE_HOST=10.0.0.1", "PATH=/bin",
		"SITEMAPD_TEST_KEEP=1",
	})
	if diff := cmp.Diff([]string{"SITEMAPD_DATABSE", "SITEMAPD_SYNC_QUITE"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestLoad_AnotherCommandsSiteIsNoHomePage: only the daemon's --site adds a site; that of other commands names one.
func TestLoad_AnotherCommandsSiteIsNoHomePage(t *testing.T) {
	t.Parallel()
	fs := pflag.NewFlagSet("digest", pflag.ContinueOnError)
	config.Flags(fs)
	fs.String("site", "", "of this site alone")
	if err := fs.Parse([]string{"--site", "127.0.0.1:8799"}); err != nil {
		t.Fatal(err)
	}
	if got := load(t, fs, env(), "").Sites; len(got) != 0 {
		t.Errorf("sites %v", got)
	}
}
