package web

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

// catalogue holds every text that people read in the dashboard, by its English wording. A translation is a file with
// the same keys.
//
//go:embed texts/en.json
var catalogue []byte

var texts = sync.OnceValue(func() map[string]string { return readTexts(catalogue) })

func readTexts(file []byte) map[string]string {
	all := map[string]string{}
	if err := json.Unmarshal(file, &all); err != nil {
		panic(fmt.Errorf("web: read texts: %w", err))
	}
	return all
}

// Text gives a text of the catalogue, with arguments put in as fmt.Sprintf does.
func Text(message string, args ...any) string {
	if translated, ok := texts()[message]; ok && translated != "" {
		message = translated
	}
	if len(args) == 0 {
		return message
	}
	return fmt.Sprintf(message, args...)
}
