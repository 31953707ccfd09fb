package config

import (
	"reflect"
	"strings"
)

const (
	envPrefix = "SITEMAPD_"
	envConfig = envPrefix + "CONFIG" // names the configuration file
	delimiter = "::"                 // of viper's keys: a dot would split host names
	fileEnds  = "_file"              // a secret's key with this end names a file that holds it
)

// setting is one key that has a value of its own: a leaf of Config. Sites is a leaf too,
// a list of its own kind.
type setting struct {
	key    string // "sync.quiet"
	name   string // "quiet"
	index  []int  // for reflect.Value.FieldByIndex
	secret string // "", "dsn" (holds a password) or "all"
	typ    reflect.Type
}

func (s setting) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

func (s setting) viperKey() string { return strings.ReplaceAll(s.key, ".", delimiter) }

var sitesType = reflect.TypeFor[[]Site]()

// settings and siteSettings are the schema: everything that reads, checks names, prints
// or documents the configuration walks them.
var (
	settings     = walk(reflect.TypeFor[Config](), "", nil)
	siteSettings = walk(reflect.TypeFor[Site](), "", nil)
)

func walk(typ reflect.Type, prefix string, index []int) []setting {
	var found []setting
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, tagged := field.Tag.Lookup("key")
		if !tagged {
			continue
		}
		at := append(append([]int{}, index...), i)
		if field.Type.Kind() == reflect.Struct {
			found = append(found, walk(field.Type, prefix+name+".", at)...)
			continue
		}
		found = append(found, setting{
			key: prefix + name, name: name, index: at, secret: field.Tag.Get("secret"), typ: field.Type,
		})
	}
	return found
}

// children gives the names that may stand directly under a prefix ("" or "sync.") and the
// setting that each is, nil for a section. Secrets appear under both of their names.
func children(of []setting, prefix string) map[string]*setting {
	names := map[string]*setting{}
	for i, s := range of {
		rest, under := strings.CutPrefix(s.key, prefix)
		if !under {
			continue
		}
		if section, _, deeper := strings.Cut(rest, "."); deeper {
			names[section] = nil
			continue
		}
		names[rest] = &of[i]
		if s.secret != "" {
			names[rest+fileEnds] = &of[i]
		}
	}
	return names
}

// suggest names the key that was probably meant: the nearest sibling, or the same name in
// another section. "" when nothing is near.
func suggest(name string, siblings map[string]*setting, prefix string) string {
	best, distance := "", 1+max(1, min(3, len(name)/3))
	for sibling := range siblings {
		if d := edits(name, sibling); d < distance || d == distance && best != "" && sibling < best {
			best, distance = prefix+sibling, d
		}
	}
	if best != "" {
		return best
	}
	for _, s := range settings {
		if s.name == name {
			return s.key
		}
	}
	return ""
}

// edits is the number of letters to insert, remove, replace or swap with their neighbour.
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// Setting describes one key for documentation and its tests.
type Setting struct {
	Key     string // "sync.quiet"; of a site "sites[].url"
	Env     string // its variable; "" of a site
	Default string // as it would be written; "" for nothing
	Secret  bool   // Key and Env exist with _file and _FILE as well
}

// Settings gives every key there is, in the order of `sitemapd config print`.
func Settings() []Setting {
	var all []Setting
	defaults := reflect.ValueOf(Default())
	for _, s := range settings {
		described := Setting{Key: s.key, Env: s.env(), Secret: s.secret != ""}
		if s.typ != sitesType {
			switch text := format(defaults.FieldByIndex(s.index)).(type) {
			case string:
				described.Default = text
			case []string:
				described.Default = strings.Join(text, ",")
			}
		}
		all = append(all, described)
	}
	for _, s := range siteSettings {
		all = append(all, Setting{Key: "sites[]." + s.key, Secret: s.secret != ""})
	}
	return all
}
