package config

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

const masked = "***"

// Print writes the configuration as YAML that Load reads again, secrets masked, with the
// origin of each value that is no default behind it.
func (c Config) Print(w io.Writer) error {
	root := &yaml.Node{Kind: yaml.MappingNode}
	sections := map[string]*yaml.Node{"": root}
	values := reflect.ValueOf(c)
	for _, s := range settings {
		section := strings.TrimSuffix(s.key, s.name)
		into, found := sections[section]
		if !found { // the schema has one level of sections
			into = &yaml.Node{Kind: yaml.MappingNode}
			sections[section] = into
			root.Content = append(root.Content, scalar(strings.TrimSuffix(section, ".")), into)
		}
		if s.typ == sitesType {
			into.Content = append(into.Content, scalar(s.name), c.printSites())
			continue
		}
		c.print(into, s, s.key, values.FieldByIndex(s.index))
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// printSites leaves out what a site leaves to the daemon.
func (c Config) printSites() *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	if len(c.Sites) == 0 {
		list.Style = yaml.FlowStyle
	}
	for i, site := range c.Sites {
		element := &yaml.Node{Kind: yaml.MappingNode}
		values := reflect.ValueOf(site)
		for _, s := range siteSettings {
			if value := values.FieldByIndex(s.index); !value.IsZero() {
				c.print(element, s, siteKey(i)+"."+s.key, value)
			}
		}
		list.Content = append(list.Content, element)
	}
	return list
}

func (c Config) print(into *yaml.Node, s setting, key string, value reflect.Value) {
	var node *yaml.Node
	switch text := format(value).(type) {
	case []string:
		node = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, element := range text {
			node.Content = append(node.Content, scalar(element))
		}
	case string:
		node = scalar(mask(text, s.secret))
	}
	name := scalar(s.name)
	if origin, found := c.origins[key]; found {
		node.LineComment = origin
	}
	into.Content = append(into.Content, name, node)
}

// scalar quotes only what YAML could not read back as a text in its place: since Load
// takes every plain word as text, "off" and "2m" need no quotes.
func scalar(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if text == "" || strings.HasPrefix(text, "@") || strings.ContainsAny(text, "*#:\"'%&{}[],|>`") || strings.TrimSpace(text) != text {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// mask hides a secret: all of it, or the password in a database's address. One whose form
// is not understood is hidden altogether.
func mask(text, secret string) string {
	switch {
	case secret == "" || text == "":
		return text
	case secret == "all":
		return masked
	}
	return MaskDatabase(text)
}

// MaskDatabase gives the address of a database without its password, for logs and messages.
func MaskDatabase(text string) string {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		if strings.HasPrefix(text, "sqlite:") {
			return text
		}
		return masked
	}
	// The last @ ends the credentials, whatever characters the password has.
	at := strings.LastIndex(rest, "@")
	if at < 0 {
		return text
	}
	user, _, hasPassword := strings.Cut(rest[:at], ":")
	if hasPassword {
		user += ":" + masked
	}
	return scheme + "://" + user + rest[at:]
}
