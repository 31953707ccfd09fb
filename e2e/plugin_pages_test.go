package e2e_test

import (
	"net/http"
	"strings"
	"testing"
)

// Every page that the test site lists answers 200, archives of terms and authors included: what the other tests say of
// a page's address would mean little otherwise.
func TestPlugin_EveryListedPageAnswers(t *testing.T) {
	s, _ := withPlugin(t)
	asked := map[string]int{}
	for url := range s.list(t) {
		kind := strings.Split(strings.TrimPrefix(url, s.url), "/")[0]
		if kind != "category" && kind != "tag" && kind != "author" {
			kind = "post or page"
		}
		if asked[kind]++; asked[kind] > 12 {
			continue
		}
		response, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		// Posts with a password answer as well; what they ask for stands in their page.
		if response.StatusCode != http.StatusOK || response.Request.URL.String() != url {
			t.Errorf("%s answers %d as %s", url, response.StatusCode, response.Request.URL)
		}
	}
	for _, kind := range []string{"category", "tag", "author", "post or page"} {
		if asked[kind] == 0 {
			t.Errorf("no page of kind %q is listed: %v", kind, asked)
		}
	}
}
