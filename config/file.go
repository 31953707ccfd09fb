package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fileLayer reads a configuration file into what viper merges: nested maps whose leaves
// are texts or lists of texts, and under "sites" a list of maps. origins gets the line of
// every key. Nothing is read by what YAML takes a plain word for (off, 007, 1e3): text is text.
type fileLayer struct {
	path     string
	source   []byte
	problems *Problems
	origins  map[string]string
}

const maxFile = 4 << 20

func (l *fileLayer) read() map[string]any {
	var err error
	if l.source, err = readLimited(l.path, maxFile); err != nil {
		l.problems.add(l.path, "", "", "%s", reason(err))
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(l.source))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF): // nothing but comments
		return nil
	case err != nil:
		l.syntax(err)
		return nil
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		l.problems.add(l.at(&second), "", "remove what follows the line ---", "a second YAML document")
		return nil
	}
	return l.mapping(document.Content[0], settings, "", "")
}

// mapping reads one section. prefix is the section within the schema ("sync."), shown how
// the key is named to people ("sites[0].").
func (l *fileLayer) mapping(node *yaml.Node, schema []setting, prefix, shown string) map[string]any {
	node = follow(node)
	section := strings.TrimSuffix(shown, ".")
	if isNull(node) {
		return nil
	}
	if node.Kind != yaml.MappingNode {
		l.problems.add(l.at(node), section, "", "wants settings (key: value), not %s", kind(node))
		return nil
	}
	known := children(schema, prefix)
	read, lines := map[string]any{}, map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], follow(node.Content[i+1])
		name := key.Value
		setting, found := known[name]
		switch {
		case !found:
			l.unknown(key, known, prefix, shown)
			continue
		case lines[name] != 0:
			l.problems.add(l.at(key), shown+name, "", "is given twice, first in line %d", lines[name])
			continue
		}
		lines[name] = key.Line
		switch {
		case setting == nil:
			if inner := l.mapping(value, schema, prefix+name+".", shown+name+"."); inner != nil {
				read[name] = inner
			}
		case isNull(value): // "key:" with its value commented out says nothing
		case setting.typ == sitesType:
			l.origins["sites"] = l.at(key)
			if list, ok := l.sites(value); ok {
				read[name] = list
			}
		default:
			l.origins[shown+setting.name] = l.at(key)
			l.leaf(read, *setting, name, shown, key, value)
		}
	}
	return read
}

func (l *fileLayer) leaf(read map[string]any, setting setting, name, shown string, key, value *yaml.Node) {
	if setting.secret != "" && name != setting.name {
		if _, both := read[setting.name]; both {
			l.problems.add(l.at(key), shown+setting.name, "keep one of them", "is given both in the file and by %s", shown+name)
			return
		}
		secret, err := readSecret(value.Value, filepath.Dir(l.path))
		if err != nil {
			l.problems.add(l.at(key), shown+name, "", "%s", err)
			return
		}
		read[setting.name] = secret
		return
	}
	if _, both := read[setting.name]; both {
		l.problems.add(l.at(key), shown+name, "keep one of them", "is given both in the file and by %s", shown+name+fileEnds)
		return
	}
	switch value.Kind {
	case yaml.ScalarNode:
		read[name] = value.Value
	case yaml.SequenceNode:
		texts := make([]string, 0, len(value.Content))
		for _, element := range value.Content {
			if element = follow(element); element.Kind != yaml.ScalarNode {
				l.problems.add(l.at(element), shown+name, "", "wants a list of values, not of %s", kind(element))
				return
			}
			texts = append(texts, element.Value)
		}
		read[name] = texts
	default:
		l.problems.add(l.at(value), shown+name, "", "wants a value, not %s", kind(value))
	}
}

func (l *fileLayer) sites(node *yaml.Node) ([]any, bool) {
	if node.Kind != yaml.SequenceNode {
		l.problems.add(l.at(node), "sites", "write each as an element: - url: https://example.com",
			"wants a list of sites, not %s", kind(node))
		return nil, false
	}
	list := make([]any, 0, len(node.Content))
	for i, element := range node.Content {
		shown := fmt.Sprintf("sites[%d]", i)
		l.origins[shown] = l.at(element)
		site := map[string]any{}
		if element = follow(element); element.Kind == yaml.ScalarNode && !isNull(element) {
			site["url"] = element.Value // "- https://example.com" is short for its url
		} else if read := l.mapping(element, siteSettings, "", shown+"."); read != nil {
			site = read
		}
		list = append(list, site)
	}
	return list, true
}

func (l *fileLayer) unknown(key *yaml.Node, known map[string]*setting, prefix, shown string) {
	hint := "sitemapd config print shows all settings"
	if near := suggest(key.Value, known, shown); near != "" {
		hint = "did you mean " + near + "?"
	}
	if key.Value == "<<" {
		hint = "YAML's merge key is not supported"
	}
	l.problems.add(l.at(key), shown+key.Value, hint, "no such setting")
}

func (l *fileLayer) at(node *yaml.Node) string { return fmt.Sprintf("%s:%d", l.path, node.Line) }

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// syntax tells a YAML error in words that say what to do: an unquoted @hourly or */5 is
// what people write first.
func (l *fileLayer) syntax(err error) {
	text, where, hint := strings.TrimPrefix(err.Error(), "yaml: "), l.path, ""
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
		text = strings.TrimPrefix(err.Error(), found[0])
		number, _ := strconv.Atoi(found[1])
		lines := strings.Split(string(l.source), "\n")
		// The parser counts from 0 in some of its errors: the line before or after may be meant.
		for _, n := range []int{number, number + 1, number - 1} {
			if n < 1 || n > len(lines) {
				continue
			}
			if hint = quoting(lines[n-1]); hint != "" {
				number = n
				break
			}
		}
		where += ":" + strconv.Itoa(number)
	}
	l.problems.add(where, "", hint, "not YAML: %s", text)
}

func quoting(line string) string {
	value := line
	if _, after, found := strings.Cut(line, ": "); found {
		value = after
	}
	value = strings.TrimPrefix(strings.TrimSpace(value), "- ")
	switch {
	case strings.HasPrefix(value, "@"), strings.HasPrefix(value, "*"), strings.HasPrefix(value, "%"):
		return fmt.Sprintf("put quotes round a value that begins with %c", value[0])
	case strings.HasPrefix(line, "\t"), strings.HasPrefix(strings.TrimLeft(line, " "), "\t"):
		return "indent with spaces, not with tabs"
	}
	return ""
}

// readSecret reads a file that holds one value, without the line end that editors add.
// A relative path is taken from dir.
func readSecret(path, dir string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	content, err := readLimited(path, 64<<10)
	if err != nil {
		return "", fmt.Errorf("read %s: %s", path, reason(err))
	}
	secret := strings.TrimRight(string(content), "\r\n")
	if secret == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return secret, nil
}

func readLimited(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("the file is larger than %s", Bytes(most))
	}
	return content, err
}

// reason is an error without the operation and path that the text around it names.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

func follow(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.Tag == "!!null" }

func kind(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "settings (key: value)"
	case yaml.SequenceNode:
		return "a list"
	}
	return "the value " + strconv.Quote(node.Value)
}
