package store

import (
	"net"
	"net/url"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

const dsnHint = `use "sqlite:PATH" or "mysql://USER:PASSWORD@HOST:PORT/NAME"`

// source is a parsed DSN: a path for SQLite, else a server.
type source struct {
	path     string
	address  string // host:port
	user     string
	password string
	name     string
	tls      string // "", "true", "skip-verify" or "preferred"
}

// String names the database without its password.
func (s source) String() string {
	if s.path != "" {
		return "sqlite:" + s.path
	}
	return "mysql://" + s.user + "@" + s.address + "/" + s.name
}

func parseDSN(dsn string) (source, error) {
	scheme, rest, ok := strings.Cut(dsn, ":")
	if !ok {
		return source{}, models.Invalid("database", dsnHint, "no scheme")
	}
	switch scheme {
	case "sqlite":
		path := strings.TrimPrefix(rest, "//")
		if path == "" || strings.Contains(path, ":memory:") {
			return source{}, models.Invalid("database", dsnHint, "sqlite needs the path of a file")
		}
		return source{path: path}, nil
	case "mysql", "mariadb":
		return parseServer(dsn)
	}
	return source{}, models.Invalid("database", dsnHint, "unknown scheme %q", scheme)
}

func parseServer(dsn string) (source, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		// The error of url.Parse repeats the text, which may hold a password.
		return source{}, models.Invalid("database", dsnHint+`; write special characters of the password as %XX`, "not a URL")
	}
	s := source{name: strings.TrimPrefix(u.Path, "/")}
	if u.User != nil {
		s.user = u.User.Username()
		s.password, _ = u.User.Password()
	}
	port := u.Port()
	if port == "" {
		port = "3306"
	}
	s.address = net.JoinHostPort(u.Hostname(), port)
	switch {
	case u.Hostname() == "":
		return source{}, models.Invalid("database", dsnHint, "no host")
	case s.name == "" || strings.Contains(s.name, "/"):
		return source{}, models.Invalid("database", dsnHint, "no database name after the host")
	case s.user == "":
		return source{}, models.Invalid("database", dsnHint, "no user")
	}
	for key, values := range u.Query() {
		if key != "tls" {
			return source{}, models.Invalid("database", "only tls is known", "unknown parameter %q", key)
		}
		switch s.tls = values[0]; s.tls {
		case "", "true", "skip-verify", "preferred":
		default:
			return source{}, models.Invalid("database", "true, skip-verify or preferred", "tls=%s", s.tls)
		}
	}
	return s, nil
}
