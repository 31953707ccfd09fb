package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

// site is one real WordPress and the PHP driver that acts on it as an editor would.
type site struct {
	url    string
	driver string
	path   string // of a site within a network, such as /two/
}

// post is what the driver says of a post, term or author after an action.
type post struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Status      string `json:"status"`
	URL         string `json:"url"`
	PreviousURL string `json:"previous_url"`
	ModifiedGMT string `json:"modified_gmt"`
}

// listed is one page that WordPress' database says should be listed. Lastmod is empty where WordPress declares none.
type listed struct {
	URL         string `json:"url"`
	Lastmod     string `json:"lastmod"`
	ModifiedGMT string `json:"modified_gmt"`
}

// inventory is what a site lists: URL to lastmod in UTC, empty when none is declared.
type inventory map[string]string

func openSite(t *testing.T) site {
	t.Helper()
	return siteFrom(t, "SITEMAPD_TEST_WP_URL", "SITEMAPD_TEST_WP_PHP")
}

func siteFrom(t *testing.T, urlVariable, driverVariable string) site {
	t.Helper()
	s := site{url: os.Getenv(urlVariable), driver: os.Getenv(driverVariable)}
	if s.url == "" || s.driver == "" {
		t.Skipf("%s is not set; scripts/test.sh wordpress sets it", urlVariable)
	}
	return s
}

// do runs one action of the driver and decodes its answer into v.
func (s site) do(t *testing.T, v any, action string, arguments ...string) {
	t.Helper()
	command := exec.Command("php", append([]string{s.driver, action}, arguments...)...)
	command.Stderr = os.Stderr
	command.Env = append(os.Environ(), "SD_PATH="+s.path)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("WordPress: %s %q: %v\n%s", action, arguments, err, out)
	}
	if err := json.Unmarshal(out, v); err != nil {
		t.Fatalf("WordPress: %s %q answered %q: %v", action, arguments, out, err)
	}
}

// act runs an action that answers with a post or a term.
func (s site) act(t *testing.T, action string, arguments ...string) post {
	t.Helper()
	var p post
	s.do(t, &p, action, arguments...)
	return p
}

// set runs an action whose answer does not matter.
func (s site) set(t *testing.T, action string, arguments ...string) {
	t.Helper()
	var ignored any
	s.do(t, &ignored, action, arguments...)
}

// list asks the oracle.
func (s site) list(t *testing.T) inventory {
	t.Helper()
	var answer struct {
		Version string   `json:"version"`
		URLs    []listed `json:"urls"`
	}
	s.do(t, &answer, "list")
	found := make(inventory, len(answer.URLs))
	for _, l := range answer.URLs {
		if _, twice := found[l.URL]; twice {
			t.Fatalf("WordPress lists %s twice", l.URL)
		}
		found[l.URL] = l.Lastmod
	}
	return found
}
