package e2e_test

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// editor is a person in wp-admin: cookies, pages, forms and links, without scripts.
type editor struct {
	t      *testing.T
	site   site
	client *http.Client
}

// logIn signs in as the administrator.
func (s site) logIn(t *testing.T) *editor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	e := &editor{t: t, site: s, client: &http.Client{Jar: jar, Timeout: time.Minute}}
	e.get("wp-login.php")
	page := e.post("wp-login.php", url.Values{"log": {"admin"}, "pwd": {"password"}, "testcookie": {"1"}, "redirect_to": {s.url + "wp-admin/"}})
	if !strings.Contains(page, "wp-admin-bar") && !strings.Contains(page, "adminmenu") {
		t.Fatalf("not signed in: %.600s", page)
	}
	return e
}

func (e *editor) get(path string) string {
	e.t.Helper()
	response, err := e.client.Get(e.site.url + path)
	return e.read(path, response, err)
}

func (e *editor) post(path string, form url.Values) string {
	e.t.Helper()
	response, err := e.client.PostForm(e.site.url+path, form)
	return e.read(path, response, err)
}

func (e *editor) read(path string, response *http.Response, err error) string {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 400 {
		e.t.Fatalf("%s: %s %v: %.600s", path, response.Status, err, body)
	}
	return string(body)
}

// field gives the value of a form's hidden field.
func (e *editor) field(page, name string) string {
	e.t.Helper()
	for _, input := range regexp.MustCompile(`<input[^>]*>`).FindAllString(page, -1) {
		input = strings.ReplaceAll(input, "'", `"`) // WordPress writes both
		if strings.Contains(input, `name="`+name+`"`) {
			if m := regexp.MustCompile(`value="([^"]*)"`).FindStringSubmatch(input); m != nil {
				return html.UnescapeString(m[1])
			}
		}
	}
	e.t.Fatalf("the page has no field %s: %.600s", name, page)
	return ""
}

// follow goes where the first link that contains all parts leads.
func (e *editor) follow(page string, parts ...string) string {
	e.t.Helper()
links:
	for _, m := range regexp.MustCompile(`href=["']([^"']+)["']`).FindAllStringSubmatch(page, -1) {
		target := html.UnescapeString(m[1])
		for _, part := range parts {
			if !strings.Contains(target, part) {
				continue links
			}
		}
		base, _ := url.Parse(e.site.url + "wp-admin/edit.php")
		absolute, err := base.Parse(target)
		if err != nil {
			continue
		}
		return e.get(strings.TrimPrefix(absolute.String(), e.site.url))
	}
	e.t.Fatalf("the page has no link with %q", parts)
	return ""
}

// rest is the block editor: REST requests of the administrator.
type rest struct {
	t        *testing.T
	site     site
	password string
	header   http.Header
}

func (s site) rest(t *testing.T) *rest {
	t.Helper()
	var made struct{ Password string }
	s.do(t, &made, "app-password")
	return &rest{t: t, site: s, password: made.Password, header: http.Header{}}
}

// send makes one request and gives the answer and how long it took.
func (r *rest) send(method, path string, fields map[string]any) (map[string]any, time.Duration) {
	r.t.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		r.t.Fatal(err)
	}
	request, err := http.NewRequest(method, r.site.url+"wp-json/wp/v2/"+path, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header = r.header.Clone()
	request.Header.Set("Content-Type", "application/json")
	request.SetBasicAuth("admin", r.password)
	start := time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	took := time.Since(start)
	if err != nil || response.StatusCode >= 300 {
		r.t.Fatalf("%s %s: %s %v: %.600s", method, path, response.Status, err, text)
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		r.t.Fatalf("%s %s: %v: %.600s", method, path, err, text)
	}
	return answer, took
}
