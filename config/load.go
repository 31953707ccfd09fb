package config

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// Load puts the layers over each other and checks the result: defaults, then the file,
// then the variables that environ knows (os.LookupEnv), then the flags of fs that were
// given. fs may be nil and may hold other flags. file is the configuration file; "" means
// --config, then SITEMAPD_CONFIG, then none. A variable that is set to nothing counts as not set.
//
// The error is a *Problems; every layer is read and checked to its end before it is returned.
func Load(fs *pflag.FlagSet, environ func(string) (string, bool), file string) (Config, error) {
	l := loader{
		viper:    viper.NewWithOptions(viper.KeyDelimiter(delimiter)),
		environ:  environ,
		flags:    map[string]*pflag.Flag{},
		problems: &Problems{},
		origins:  map[string]string{},
	}
	if l.environ == nil {
		l.environ = func(string) (string, bool) { return "", false }
	}
	if fs != nil {
		fs.Visit(func(flag *pflag.Flag) { l.flags[flag.Name] = flag })
	}
	l.defaults()
	l.file(file)
	l.variables()
	l.given()
	config := l.decode()
	config.complete()
	config.check(l.problems)
	l.problems.sort()
	return config, l.problems.orNil()
}

type loader struct {
	viper    *viper.Viper
	environ  func(string) (string, bool)
	flags    map[string]*pflag.Flag // those given
	problems *Problems
	origins  map[string]string
}

// defaults registers every key: one that viper does not know from here would be lost
// when a variable alone sets it.
func (l *loader) defaults() {
	values := reflect.ValueOf(Default())
	for _, s := range settings {
		if s.typ == sitesType {
			l.viper.SetDefault(s.viperKey(), []any{})
			continue
		}
		l.viper.SetDefault(s.viperKey(), format(values.FieldByIndex(s.index)))
	}
}

func (l *loader) file(path string) {
	if flag := l.flags[flagConfig]; path == "" && flag != nil {
		path = flag.Value.String()
	}
	if path == "" {
		path, _ = l.environ(envConfig)
	}
	if path == "" {
		return
	}
	layer := fileLayer{path: path, problems: l.problems, origins: l.origins}
	l.merge(layer.read())
}

func (l *loader) merge(layer map[string]any) {
	// MergeConfigMap has no way to fail on a map of texts, lists and maps; if a later viper
	// finds one, it is told like everything else.
	if err := l.viper.MergeConfigMap(layer); err != nil {
		l.problems.add("", "", "", "%s", err)
	}
}

func (l *loader) variables() {
	layer := map[string]any{}
	for _, s := range settings {
		name := s.env()
		value, _ := l.environ(name)
		if s.secret != "" {
			path, _ := l.environ(name + "_FILE")
			switch {
			case path != "" && value != "":
				l.problems.add(name, s.key, "keep one of them", "is set beside %s_FILE", name)
				continue
			case path != "":
				secret, err := readSecret(path, "")
				name += "_FILE"
				if err != nil {
					l.problems.add(name, s.key, "", "%s", err)
					continue
				}
				value = secret
			}
		}
		if value == "" {
			continue
		}
		l.origins[s.key] = name
		put(layer, strings.Split(s.key, "."), value)
	}
	l.merge(layer)
}

func put(layer map[string]any, path []string, value any) {
	for _, section := range path[:len(path)-1] {
		inner, found := layer[section].(map[string]any)
		if !found {
			inner = map[string]any{}
			layer[section] = inner
		}
		layer = inner
	}
	layer[path[len(path)-1]] = value
}

func (l *loader) given() {
	for _, f := range flagKeys {
		flag := l.flags[f.flag]
		if flag == nil {
			continue
		}
		l.origins[f.key] = "--" + f.flag
		if err := l.viper.BindPFlag(strings.ReplaceAll(f.key, ".", delimiter), flag); err != nil {
			l.problems.add("--"+f.flag, f.key, "", "%s", err)
		}
	}
}

// decode reads every key's winning text into its field. A problem leaves the default.
func (l *loader) decode() Config {
	config := Default()
	config.origins = l.origins
	values := reflect.ValueOf(&config).Elem()
	for _, s := range settings {
		raw := l.viper.Get(s.viperKey())
		if s.typ == sitesType {
			config.Sites = l.sites(raw)
			continue
		}
		l.decodeInto(values.FieldByIndex(s.index), raw, s.key)
	}
	return config
}

func (l *loader) decodeInto(field reflect.Value, raw any, key string) {
	kept := reflect.New(field.Type()).Elem()
	kept.Set(field)
	if err := parseInto(field, raw); err != nil {
		field.Set(kept)
		l.problems.add(where(l.origins, key), key, "", "%s", err)
	}
}

// where is the place of a key or, for one that was left out, of what it belongs to.
func where(origins map[string]string, key string) string {
	for key != "" {
		if origin, found := origins[key]; found {
			return origin
		}
		key = key[:max(0, strings.LastIndexAny(key, ".["))]
	}
	return ""
}

// sites reads the list of the file, or of the variable (home pages with commas between),
// and adds what --site names.
func (l *loader) sites(raw any) []Site {
	var sites []Site
	known := map[string]bool{}
	add := func(home, origin string) {
		if home = strings.TrimSpace(home); home == "" || known[home] {
			return
		}
		known[home] = true
		l.origins[siteKey(len(sites))] = origin
		sites = append(sites, Site{URL: home})
	}
	switch list := raw.(type) {
	case string:
		l.forgetSites()
		for home := range strings.SplitSeq(list, ",") {
			add(home, l.origins["sites"])
		}
	case []any:
		for i, element := range list {
			site, _ := element.(map[string]any)
			sites = append(sites, l.site(site, i))
			known[sites[i].URL] = true
		}
	}
	if flag := l.flags[flagSite]; flag != nil {
		// Only the daemon's --site may be repeated; other commands have one that names a site that is known.
		if several, ok := flag.Value.(pflag.SliceValue); ok {
			for _, home := range several.GetSlice() {
				add(home, "--"+flagSite)
			}
		}
	}
	return sites
}

func (l *loader) site(read map[string]any, i int) Site {
	var site Site
	value := reflect.ValueOf(&site).Elem()
	for _, s := range siteSettings {
		key := siteKey(i) + "." + s.key
		if raw, given := read[s.key]; given {
			l.decodeInto(value.FieldByIndex(s.index), raw, key)
		}
	}
	return site
}

// forgetSites drops the places of a list that another layer replaced.
func (l *loader) forgetSites() {
	maps.DeleteFunc(l.origins, func(key, _ string) bool { return strings.HasPrefix(key, "sites[") })
}

func siteKey(i int) string { return "sites[" + strconv.Itoa(i) + "]" }

// UnknownVariables gives those of environ ("NAME=value", os.Environ) that begin with
// SITEMAPD_ and set nothing: a misspelt name is worth a warning. It is no more than that,
// since Kubernetes puts SITEMAPD_PORT and SITEMAPD_SERVICE_HOST beside a service of our name.
func UnknownVariables(environ []string) []string {
	known := map[string]bool{envConfig: true}
	for _, s := range settings {
		known[s.env()] = true
		if s.secret != "" {
			known[s.env()+"_FILE"] = true
		}
	}
	var unknown []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		others := strings.HasPrefix(name, envPrefix+"PORT") || strings.HasPrefix(name, envPrefix+"SERVICE_") ||
			strings.HasPrefix(name, envPrefix+"TEST_") // of scripts/test.sh
		if strings.HasPrefix(name, envPrefix) && !known[name] && !others {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}
