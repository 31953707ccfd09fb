package models

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a site's tags.
const (
	MaxTags      = 10
	maxTagLength = 40 // characters
)

// CleanTags gives the groups that a site belongs to as they are kept: in lower case, sorted, each once. problem says what
// is wrong with them, "" when nothing is: a tag is 1 to 40 letters, digits, inner blanks and - _ . : of any script.
func CleanTags(tags []string) (clean []string, problem string) {
	for _, tag := range tags {
		text := strings.ToLower(strings.Join(strings.Fields(tag), " "))
		switch {
		case text == "":
			continue
		case !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxTagLength:
			return nil, fmt.Sprintf("%.60q is longer than %d characters", tag, maxTagLength)
		case strings.ContainsFunc(text, func(r rune) bool {
			return !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune(" -_.:", r)
		}):
			return nil, fmt.Sprintf("%.60q is no tag: letters, digits, blanks and - _ . : are", tag)
		}
		clean = append(clean, text)
	}
	slices.Sort(clean)
	clean = slices.Compact(clean)
	if len(clean) > MaxTags {
		return nil, fmt.Sprintf("%d tags are more than %d", len(clean), MaxTags)
	}
	return clean, ""
}

// Tagged tells whether a site belongs to a group; to "" every site does.
func (s *Site) Tagged(tag string) bool {
	return tag == "" || slices.Contains(s.Settings.Tags, strings.ToLower(strings.TrimSpace(tag)))
}
