package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPlugin_SeesTheBlockEditor(t *testing.T) {
	s, r := withPlugin(t)
	editor := s.rest(t)

	made, _ := editor.send(http.MethodPost, "posts", map[string]any{"title": "By REST", "status": "publish", "content": "x"})
	link, path := made["link"].(string), fmt.Sprintf("posts/%.0f", made["id"])
	expect(t, r, "publish", "post.published "+link)
	editor.send(http.MethodPost, path+"/autosaves", map[string]any{"content": "half a sentence"})
	expect(t, r, "autosave")
	moved, _ := editor.send(http.MethodPost, path, map[string]any{"slug": "by-rest-moved", "tags": []int{}})
	expect(t, r, "slug", "post.updated "+moved["link"].(string)+" <- "+link)
	editor.send(http.MethodPost, path, map[string]any{"status": "draft"})
	expect(t, r, "to draft", "post.unpublished "+moved["link"].(string))
	editor.send(http.MethodPost, path, map[string]any{"content": "y"})
	expect(t, r, "edit of a draft")
	editor.send(http.MethodPost, path, map[string]any{"status": "publish"})
	expect(t, r, "publish again", "post.published "+moved["link"].(string))
	editor.send(http.MethodDelete, path, nil)
	expect(t, r, "trash", "post.unpublished "+moved["link"].(string))
	editor.send(http.MethodDelete, path+"?force=true", nil)
	expect(t, r, "delete from the trash")
}

func TestPlugin_SeesTheAdminScreens(t *testing.T) {
	s, r := withPlugin(t)
	p := s.act(t, "publish", "In wp-admin")
	other := s.act(t, "publish", "In wp-admin too")
	r.take()
	editor := s.logIn(t)

	list := editor.get("wp-admin/edit.php?post_type=post&s=wp-admin")
	editor.post("wp-admin/admin-ajax.php", url.Values{
		"action": {"inline-save"}, "_inline_edit": {editor.field(list, "_inline_edit")}, "post_type": {"post"}, "post_ID": {id(p)},
		"screen": {"edit-post"}, "post_title": {"In wp-admin"}, "post_name": {"quickly-edited"}, "_status": {"publish"}, "post_view": {"list"},
	})
	moved := s.act(t, "post", id(p))
	if !strings.HasSuffix(moved.URL, "/quickly-edited/") {
		t.Fatalf("quick edit did not take: %+v", moved)
	}
	expect(t, r, "quick edit", "post.updated "+moved.URL+" <- "+p.URL)

	editor.get("wp-admin/edit.php?" + url.Values{
		"post_type": {"post"}, "action": {"edit"}, "action2": {"edit"}, "post[]": {id(p), id(other)}, "bulk_edit": {"Update"},
		"_wpnonce": {editor.field(list, "_wpnonce")}, "_status": {"-1"}, "comment_status": {"closed"}, "post_author": {"-1"},
		"ping_status": {""}, "sticky": {"-1"}, "tax_input[post_tag]": {""},
	}.Encode())
	expect(t, r, "bulk edit", "post.updated "+moved.URL, "post.updated "+other.URL)

	editor.follow(list, "post="+id(p), "action=trash")
	expect(t, r, "trash", "post.unpublished "+moved.URL)
	trash := editor.get("wp-admin/edit.php?post_status=trash&post_type=post")
	editor.follow(trash, "post="+id(p), "action=untrash")
	expect(t, r, "untrash")
	editor.follow(editor.get("wp-admin/edit.php?post_type=post&post_status=draft"), "post="+id(p), "action=trash")
	editor.follow(editor.get("wp-admin/edit.php?post_status=trash&post_type=post"), "post="+id(p), "action=delete")
	expect(t, r, "delete from the trash")
	s.act(t, "delete", id(other))
}

func TestPlugin_SettingsPage(t *testing.T) {
	s, r := withPlugin(t)
	s.set(t, "configure", "", "")
	editor := s.logIn(t)

	form := editor.get("wp-admin/options-general.php?page=sitemapd")
	send := func(endpoint, key string) string {
		t.Helper()
		editor.post("wp-admin/options.php", url.Values{
			"option_page": {"sitemapd"}, "action": {"update"}, "_wpnonce": {editor.field(form, "_wpnonce")},
			"sitemapd_settings[endpoint]": {endpoint}, "sitemapd_settings[secret]": {key}, "sitemapd_settings[inventory]": {"1"},
		})
		form = editor.get("wp-admin/options-general.php?page=sitemapd")
		return form
	}
	if page := send(r.server.URL+"/hooks/1", secret); strings.Contains(page, secret) || !strings.Contains(page, r.server.URL) {
		t.Error("the page shows the secret, or not the address")
	}
	test := func() string {
		t.Helper()
		nonce := form[strings.Index(form, "sitemapd_test"):]
		return editor.post("wp-admin/admin-post.php", url.Values{"action": {"sitemapd_test"}, "_wpnonce": {editor.field(nonce, "_wpnonce")}})
	}
	if page := test(); !strings.Contains(page, "The daemon took the test message") {
		t.Errorf("test button: %s", notices(page))
	}
	expect(t, r, "test button", "site.test "+s.url)

	// An empty secret keeps the stored one; a wrong one is said at once by the test.
	send(r.server.URL+"/hooks/1", "")
	if page := test(); !strings.Contains(page, "The daemon took the test message") {
		t.Errorf("test after saving without a secret: %s", notices(page))
	}
	r.take()
	r.answer(http.StatusUnauthorized, "")
	page := test()
	if !strings.Contains(page, "did not arrive: The daemon answered 401.") {
		t.Errorf("test with a wrong secret: %s", notices(page))
	}
	r.answer(http.StatusOK, "")
	if !strings.Contains(page, "given up") || !strings.Contains(page, "site.test "+s.url) {
		t.Error("the list of deliveries does not show the test")
	}
	if page := send("ftp://example.org", ""); !strings.Contains(page, "sitemapd-endpoint") || strings.Contains(page, "ftp://") {
		t.Error("an address that is no web address was kept")
	}
	if !strings.Contains(editor.get("wp-admin/site-health.php?tab=debug"), "Last event number") {
		t.Error("Site Health does not show the section")
	}
}

func notices(page string) string {
	at := strings.Index(page, `class="notice`)
	if at < 0 {
		return "no notice"
	}
	return page[at:min(len(page), at+300)]
}

// TestPlugin_DoesNotSlowTheEditor times the same REST request with and without the plugin in turn, then with a daemon
// that hangs.
func TestPlugin_DoesNotSlowTheEditor(t *testing.T) {
	s, r := withPlugin(t)
	p := s.act(t, "publish", "Timed")
	editor := s.rest(t)
	const rounds = 40
	update := func(without string) time.Duration {
		if without != "" {
			editor.header.Set("X-Test-Without-Plugin", without)
		} else {
			editor.header.Del("X-Test-Without-Plugin")
		}
		_, took := editor.send(http.MethodPost, "posts/"+id(p), map[string]any{"content": fmt.Sprint(time.Now())})
		return took
	}
	update("")
	r.take()
	var with, without []time.Duration
	for range rounds {
		without = append(without, update("yes"))
		with = append(with, update(""))
	}
	if got := len(r.take()); got != rounds {
		t.Errorf("%d deliveries, want %d", got, rounds)
	}
	slices.Sort(with)
	slices.Sort(without)
	slower := with[rounds/2] - without[rounds/2]
	t.Logf("median request: %s without the plugin, %s with it (%s slower); p95 %s and %s",
		without[rounds/2], with[rounds/2], slower, without[rounds*95/100], with[rounds*95/100])
	// In turn, so that a busy machine slows both; the median, so that single hiccups do not count.
	if figures && slower > 50*time.Millisecond {
		t.Errorf("the editor waits %s longer", slower)
	}

	release := r.block()
	first := update("")
	second := update("")
	release()
	t.Logf("with a daemon that hangs: %s, then %s", first, second)
	// That both came back while the daemon still hung is what matters; how fast is for the log, as the machine may be busy.
	// The second sends nothing at all: the first one's failure is remembered.
	waiting := 0
	for _, row := range s.outbox(t).Rows {
		if row.State == "waiting" {
			waiting++
		}
	}
	if got := len(r.take()); got != 1 || waiting != 2 {
		t.Errorf("%d deliveries were tried while the daemon hung and %d wait, want 1 and 2", got, waiting)
	}
	s.act(t, "delete", id(p))
}

// TestPlugin_SendsAfterTheResponse: where PHP can end the response first, a daemon that hangs costs the editor nothing.
func TestPlugin_SendsAfterTheResponse(t *testing.T) {
	s, r := withPlugin(t)
	fpm := s.fastcgi(t)
	editor := s.rest(t)
	p := s.act(t, "publish", "Sent afterwards")
	r.take()
	update := func() time.Duration {
		t.Helper()
		response, took := fpm.post(t, "wp-json/wp/v2/posts/"+id(p), "admin", editor.password, `{"content":"x"}`)
		if !strings.Contains(response, `{"id":`+id(p)+",") {
			t.Fatalf("PHP-FPM answered %.600s", response)
		}
		return took
	}
	usual := update() + update() // the first one compiles WordPress
	release := r.block()
	hanging := update()
	// The response is over while the attempt is still under way.
	if row := s.outbox(t).Rows[0]; row.State != "waiting" || row.Attempts != "1" || row.LastError != "" {
		t.Errorf("when the response ended the attempt was over: %+v", row)
	}
	release()
	t.Logf("two requests %s, one with a daemon that hangs %s", usual, hanging)
	sent := 0
	for deadline := time.Now().Add(20 * time.Second); sent != 4 && time.Now().Before(deadline); {
		sent = 0
		for _, row := range s.outbox(t).Rows {
			if row.State == "sent" {
				sent++
			}
		}
	}
	if sent != 4 {
		t.Errorf("%d messages were taken, want the publish and three edits", sent)
	}
	s.act(t, "delete", id(p))
}
