package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"
)

// save fills in wp-admin's form of a post and presses its button.
func (e *editor) save(screen string, fields url.Values) int {
	e.t.Helper()
	page := e.get(screen)
	number := e.field(page, "post_ID")
	form := url.Values{"action": {"editpost"}, "originalaction": {"editpost"}, "post_type": {"post"}, "post_ID": {number}, "user_ID": {"1"}, "post_author": {"1"},
		"_wpnonce": {e.field(page, "_wpnonce")}, "content": {"Written in a form."}, "post_status": {"publish"}, "visibility": {"public"}, "publish": {"Publish"}}
	maps.Copy(form, fields)
	e.post("wp-admin/post.php", form)
	id, err := strconv.Atoi(number)
	if err != nil {
		e.t.Fatal(err)
	}
	return id
}

// The forms of wp-admin: publish, update, slug, schedule until its time comes, and a term's new slug.
func TestPlugin_SeesTheFormsOfTheAdminScreens(t *testing.T) {
	s, r := withPlugin(t)
	s.set(t, "option", "sd_forms", "1")
	t.Cleanup(func() { s.set(t, "option", "sd_forms", "") })
	editor := s.logIn(t)
	r.take()

	title := url.Values{"post_title": {"Written in a form"}}
	p := s.act(t, "post", strconv.Itoa(editor.save("wp-admin/post-new.php", title)))
	expect(t, r, "publish", "post.published "+p.URL)
	screen := "wp-admin/post.php?action=edit&post=" + id(p)
	editor.save(screen, url.Values{"post_title": {"Written in a form"}, "content": {"And written anew."}})
	expect(t, r, "update", "post.updated "+p.URL)
	editor.save(screen, url.Values{"post_title": {"Written in a form"}, "post_name": {"formed-anew"}})
	moved := s.act(t, "post", id(p))
	expect(t, r, "slug", "post.updated "+moved.URL+" <- "+p.URL)

	at := time.Now().AddDate(0, 0, 2)
	future := url.Values{"post_title": {"For later"}, "aa": {fmt.Sprint(at.Year())}, "mm": {fmt.Sprintf("%02d", at.Month())}, "jj": {fmt.Sprintf("%02d", at.Day())},
		"hh": {"12"}, "mn": {"00"}, "ss": {"00"}, "edit_date": {"1"}}
	later := s.act(t, "post", strconv.Itoa(editor.save("wp-admin/post-new.php", future)))
	if later.Status != "future" {
		t.Fatalf("the form did not schedule: %+v", later)
	}
	expect(t, r, "schedule")
	later = s.act(t, "time-comes", id(later))
	expect(t, r, "scheduled time comes", "post.published "+later.URL)

	named := s.act(t, "publish", "With a category of its own", "post", "", "Screen category")
	r.take()
	old := s.url + "category/screen-category/"
	var term post
	s.do(t, &term, "term", "screen-category")
	form := editor.get("wp-admin/term.php?taxonomy=category&post_type=post&tag_ID=" + id(term))
	editor.post("wp-admin/edit-tags.php", url.Values{"action": {"editedtag"}, "tag_ID": {id(term)}, "taxonomy": {"category"}, "post_type": {"post"},
		"_wpnonce": {editor.field(form, "_wpnonce")}, "name": {"Screen category"}, "slug": {"screen-renamed"}, "parent": {"-1"}, "description": {""}})
	expect(t, r, "term's slug", "term.updated "+s.url+"category/screen-renamed/ <- "+old)
	for _, p := range []post{p, later, named} {
		s.act(t, "delete", id(p))
	}
	s.act(t, "term-delete", "screen-renamed")
}

// What the block editor does besides saving: scheduling, bringing back from the trash, renaming a category.
func TestPlugin_SeesTheRestOfREST(t *testing.T) {
	s, r := withPlugin(t)
	editor := s.rest(t)
	later, _ := editor.send(http.MethodPost, "posts", map[string]any{"title": "Later by REST", "status": "future", "date_gmt": time.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04:05")})
	expect(t, r, "schedule")
	number := fmt.Sprintf("%.0f", later["id"])
	came := s.act(t, "time-comes", number)
	expect(t, r, "scheduled time comes", "post.published "+came.URL)
	editor.send(http.MethodDelete, "posts/"+number, nil)
	expect(t, r, "trash", "post.unpublished "+came.URL)
	back, _ := editor.send(http.MethodPost, "posts/"+number, map[string]any{"status": "publish"})
	expect(t, r, "back from the trash", "post.published "+back["link"].(string))

	named, _ := editor.send(http.MethodPost, "categories", map[string]any{"name": "REST category"})
	expect(t, r, "an empty category")
	category := fmt.Sprintf("%.0f", named["id"])
	editor.send(http.MethodPost, "posts/"+number, map[string]any{"categories": []any{named["id"]}})
	// That a category which was there before has its first post now is not said: the next full run sees it.
	expect(t, r, "first post of the category", "post.updated "+back["link"].(string))
	renamed, _ := editor.send(http.MethodPost, "categories/"+category, map[string]any{"slug": "rest-renamed"})
	expect(t, r, "category's slug", "term.updated "+renamed["link"].(string)+" <- "+named["link"].(string))
	editor.send(http.MethodDelete, "posts/"+number+"?force=true", nil)
	r.take()
	editor.send(http.MethodDelete, "categories/"+category+"?force=true", nil)
	r.take()
}
