package config

import (
	"github.com/spf13/pflag"
)

// Names of the flags that Load looks for in a flag set.
const (
	flagConfig = "config"
	flagSite   = "site"
)

// flagKeys says which setting a flag gives.
var flagKeys = []struct{ flag, key string }{
	{"database", "database"},
	{"log-level", "log.level"},
	{"allow-private", "fetch.allow_private"},
	{"listen", "listen"},
}

// Flags adds the flags that every command has.
func Flags(fs *pflag.FlagSet) {
	defaults := Default()
	fs.String("database", defaults.Database, "where data is kept: sqlite:PATH or mysql://USER:PASSWORD@HOST:PORT/NAME")
	fs.String(flagConfig, "", "configuration file (YAML)")
	fs.String("log-level", defaults.Log.Level, "debug, info, warn or error")
	fs.StringSlice("allow-private", nil, "private networks (CIDR) that may be reached")
}

// ServeFlags adds the flags of the daemon. --site adds to the configured sites.
func ServeFlags(fs *pflag.FlagSet) {
	fs.String("listen", Default().Listen, "address (HOST:PORT) of dashboard, API and hooks")
	fs.StringArray(flagSite, nil, "home page of a site to follow; may be repeated")
}
