package browser_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/sitemapd/sitemapd/internal/sitetest"
)

// TestJourney goes the whole way of a newcomer, once with scripts and once without.
func TestJourney(t *testing.T) {
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) { journey(t, scripts) })
	}
}

func journey(t *testing.T, scripts bool) {
	base := daemon(t)
	site := origin(t, 300)
	b := newTab(t, base, scripts)

	// The empty page says what to do first.
	b.open("/")
	b.seesText("Follow your first site")
	b.do(chromedp.SendKeys(`main input[name=home]`, site.URL()), chromedp.Click(`main form[action="/sites/new"] button`))

	// Probe and preview.
	b.seesText("Where it was looked")
	b.seesText("wp-sitemap.xml")
	b.seesText("What it lists first")
	picture(t, b, fmt.Sprintf("probe-%t", scripts))

	// The walk is held up so that it can be watched.
	var once sync.Once
	walk := make(chan struct{})
	release := func() { once.Do(func() { close(walk) }) }
	t.Cleanup(release)
	site.OnRequest(func(_ int, r *http.Request) {
		if strings.Contains(r.URL.Path, "posts-post") {
			<-walk
		}
	})
	b.do(chromedp.Click(`main form[action="/sites"] button.primary`))
	b.seesText("The site is followed")
	if !scripts {
		for range 200 { // a person presses Refresh
			if eval[bool](b, `document.querySelector('[data-progress]') !== null`) {
				break
			}
			b.open("/sites/1")
		}
	} else {
		b.sees("a page that knows of the walk", `(() => { if (document.querySelector('[data-progress]')) return true; location.href = '/sites/1'; return false; })()`)
	}
	picture(t, b, fmt.Sprintf("live-%t", scripts))
	b.sees("a running walk with Stop", `document.querySelector('[data-progress] progress') !== null && document.querySelector('form[action$="/stop"] button') !== null`)
	release()
	if scripts {
		b.sees("the page renews itself when the walk ends", `document.querySelector('[data-progress]') === null && document.body.innerText.includes('complete')`)
	} else {
		until(t, "the walk ends", func() bool {
			b.open("/sites/1")
			return eval[bool](b, `document.querySelector('[data-progress]') === null && document.body.innerText.includes('complete')`)
		})
	}

	inventory(t, b, scripts)
	columns(b)
	ordered(t, b)
	script := ""
	if scripts {
		script = axe()
	}
	forgetting(t, b, script)
	going(b, scripts)
	if scripts {
		zoned(t, b)
	}
	segment(b)
	compare(b)
	held(t, b, site.PublishedPosts(), site.Trash)
	replay(t, b, site.PostURL(site.PublishedPosts()[0]))
	settle(b)
	if scripts {
		keys(b)
	}
}

// columns chooses what the inventory shows, and goes on to the next page with it.
func columns(b *tab) {
	b.t.Helper()
	b.open("/sites/1/urls?state=all")
	b.do(chromedp.Click(`.look summary`), chromedp.Click(`.look input[value=priority]`), chromedp.Click(`.look input[value=document]`), chromedp.Click(`.look input[name=rows]`),
		chromedp.Click(`.look button`))
	b.sees("the chosen columns", `(() => { const heads = [...document.querySelectorAll('thead th')].map((h) => h.innerText); return heads.includes('priority') && !heads.includes('Document') })()`)
	b.sees("dense rows of the same filter", `document.querySelector('table.dense') !== null && location.search.includes('state=all')`)
	b.do(chromedp.Click(`.pager a[rel=next]`))
	b.sees("the same columns on the next page", `location.search.includes('page_token') && [...document.querySelectorAll('thead th')].some((h) => h.innerText === 'priority')`)
}

// settle makes a channel and a rule, changes both, and says which form of its addresses the owner prefers.
func settle(b *tab) {
	b.t.Helper()
	b.open("/settings/channels")
	b.do(chromedp.SendKeys(`main input[name=address]`, "https://index.example.invalid/in"), chromedp.SendKeys(`main input[name=name]`, "index"), chromedp.Click(`main form.stack button`))
	b.seesText("The signing secret, shown this once:")
	change := `form[action$="/change"] `
	b.open("/settings/channels/index")
	b.do(chromedp.SendKeys(change+`input[name=name]`, "search-"), chromedp.Click(change+`input[value="held.created"]`), chromedp.Click(change+`button`))
	b.seesText("Saved.")
	b.sees("the changed channel", `document.querySelector('h1').innerText === 'search-index' && document.querySelector('input[value="held.created"]').checked`)

	b.open("/settings/alerts")
	b.do(chromedp.SendKeys(`#rule input[name=name]`, "mass"), chromedp.Click(`#rule input[name=channel]`), chromedp.Click(`#rule button[value=add]`))
	b.seesText("Saved.")
	b.do(chromedp.Click(`a[href*="edit="]`))
	b.seesText("Change the rule")
	b.sees("the rule in the form", `document.querySelector('#rule input[name=name]').value === 'mass' && document.querySelector('#rule input[name=channel]').checked`)
	b.do(chromedp.SendKeys(`#rule input[name=name]`, "held: "), chromedp.Click(`#rule input[name=paused]`), chromedp.Click(`#rule button[value=add]`))
	b.sees("the changed rule alone", `document.querySelectorAll('tbody th').length === 1 && document.querySelector('tbody th').innerText === 'held: mass' && document.querySelector('tbody .state.pending') !== null`)

	b.open("/sites/1/settings")
	b.do(chromedp.Click(`.filterbox summary`), chromedp.SendKeys(`input[name=preferred_host]`, "www.example.com"), chromedp.SendKeys(`select[name=trailing_slash]`, "with a"), chromedp.Click(`button[value=save]`))
	b.seesText("Saved.")
	b.sees("what the owner prefers", `document.querySelector('input[name=preferred_host]').value === 'www.example.com' && document.querySelector('select[name=trailing_slash]').value === 'add'`)
}

func inventory(t *testing.T, b *tab, scripts bool) {
	t.Helper()
	b.open("/sites/1/urls")
	all := eval[int](b, `document.querySelectorAll('tbody tr').length`)
	if all != 50 {
		t.Errorf("%d rows on the first page", all)
	}
	b.do(chromedp.Click(`.pager a[rel=next]`))
	b.sees("the second page", `location.search.includes('page_token')`)
	b.open("/sites/1/urls")
	b.do(chromedp.Click(`.filterbox summary`), chromedp.SendKeys(`.filter input[name=contains]`, "category"), chromedp.Click(`.filter button`))
	b.sees("a chip", `location.search.includes('contains=category') && [...document.querySelectorAll('.chip')].some((c) => c.innerText.includes('category'))`)
	rows := eval[int](b, `document.querySelectorAll('tbody tr').length`)
	if rows == 0 || rows == all {
		t.Errorf("%d rows match", rows)
	}
	// What is exported is what is seen, in every format.
	links := eval[[]string](b, `[...document.querySelectorAll('.tools a[download]')].map((a) => a.getAttribute('href'))`)
	if len(links) < 5 {
		t.Errorf("exports: %q", links)
	}
	for _, link := range links {
		status, contentType, body := b.fetch(link)
		if status != 200 || len(body) == 0 {
			t.Errorf("%s: %d %s, %d bytes", link, status, contentType, len(body))
		}
		if strings.Contains(link, "format=csv") {
			if lines := strings.Count(strings.TrimSpace(string(body)), "\n"); lines != rows {
				t.Errorf("%d lines in the CSV, %d rows on the page", lines, rows)
			}
		}
		if strings.HasSuffix(link, "format=sitemap") && strings.Count(string(body), "<loc>") != rows {
			t.Errorf("the sitemap lists %d pages", strings.Count(string(body), "<loc>"))
		}
	}
	if status, _, _ := b.fetch(eval[string](b, `[...document.querySelectorAll('.tools a')].pop().getAttribute('href')`)); status != 200 {
		t.Errorf("the same as API: %d", status)
	}
	// One page over time.
	b.do(chromedp.Click(`tbody a`))
	b.seesText("Seen for the first time.")
	utc := eval[string](b, `document.querySelector('.timeline time').getAttribute('title') || document.querySelector('.timeline time').innerText || document.querySelector('time').innerText`)
	if scripts && !strings.HasSuffix(utc, "UTC") {
		t.Errorf("UTC on hover: %q", utc)
	}
}

// segment keeps a filter under a name, uses it elsewhere and forgets it.
func segment(b *tab) {
	b.t.Helper()
	b.open("/sites/1/urls?contains=category&state=all")
	b.do(chromedp.SendKeys(`form[action="/sites/1/segments"] input[name=name]`, "the categories"), chromedp.Click(`form[action="/sites/1/segments"] button`))
	b.seesText("The segment is a filter of inventory")
	b.sees("the segment among the others, chosen", `[...document.querySelectorAll('.segments .chosen')].some((c) => c.innerText.includes('the categories'))`)
	b.sees("its pages alone", `[...document.querySelectorAll('tbody tr td.url:first-child')].length > 0 && [...document.querySelectorAll('tbody tr td.url:first-child')].every((c) => c.innerText.includes('category'))`)
	b.open("/sites/1/changes?segment=the+categories")
	b.sees("changes of the segment", `document.querySelector('select[name=segment]').value === 'the categories' && document.querySelector('a[href*="feeds/1.atom?segment="]') !== null`)
	b.open("/sites/1/urls?segment=the+categories")
	if eval[bool](b, `document.querySelector('.filterbox').open === false`) {
		b.do(chromedp.Click(`.filterbox summary`))
	}
	b.do(chromedp.Click(`form[action^="/sites/1/segments/"] button`))
	b.seesText("The segment is forgotten")
}

// compare looks at what differs between the first run and now.
func compare(b *tab) {
	b.t.Helper()
	b.open("/sites/1/changes")
	b.do(chromedp.Click(`a[href="/sites/1/compare"]`))
	b.seesText("Choose two moments above")
	b.do(chromedp.SendKeys(`main input[name=from]`, "1"), chromedp.Click(`main form.filter button`))
	b.sees("a comparison", `location.search.includes('from=1') && document.querySelector('main .empty, main tbody') !== null && document.querySelector('[role=alert]') === null`)
}

// replay sends what arrived at the hook once more.
func replay(t *testing.T, b *tab, page string) {
	t.Helper()
	var key struct {
		TokenURL string `json:"token_url"`
	}
	decode(t, post(t, b.base+"/api/v1/sites/1/hook-keys", nil), &key)
	for _, hook := range []string{"publish_post", "save_post"} {
		r, err := http.PostForm(b.base+strings.TrimPrefix(key.TokenURL, b.base), url.Values{"post_url": {page}, "hook": {hook}})
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
	}
	b.open("/sites/1/deliveries")
	b.sees("the delivery", `document.querySelector('button[formaction$="/replay"]') !== null`)
	before := eval[int](b, `document.querySelectorAll('input[name=trigger]').length`)
	b.do(chromedp.Click(`button[formaction$="/replay"]`))
	b.seesText("Stored once more")
	b.sees("one delivery more", fmt.Sprintf(`document.querySelectorAll('input[name=trigger]').length === %d`, before+1))
	b.do(chromedp.Click(`tbody tr:nth-child(1) input[name=trigger]`), chromedp.Click(`tbody tr:nth-child(2) input[name=trigger]`), chromedp.Click(`form[action$="/replay"] .row button`))
	b.sees("two deliveries more", fmt.Sprintf(`document.querySelectorAll('input[name=trigger]').length === %d`, before+3))
}

// held takes most of the site down and decides on it.
func held(t *testing.T, b *tab, posts []uint32, trash func(uint32) sitetest.Event) {
	t.Helper()
	for _, id := range posts[:len(posts)*2/3] {
		trash(id)
	}
	b.open("/sites/1")
	b.do(chromedp.Click(`form[action="/sites/1/runs"] button`))
	b.seesText("Stored: a run")
	until(t, "removals are held", func() bool {
		b.open("/sites/1/held")
		return eval[bool](b, `document.querySelector('button[value=approve]') !== null`)
	})
	total := eval[int](b, `document.querySelectorAll('input[name=url]').length`)
	if total != len(posts)*2/3 {
		t.Errorf("%d removals are held", total)
	}
	// One stays, the others go.
	b.do(chromedp.Click(`input[name=url]`), chromedp.Click(`button[value=reject-chosen]`))
	b.seesText("Decided.")
	if left := eval[int](b, `document.querySelectorAll('input[name=url]').length`); left != total-1 {
		t.Errorf("%d removals are left", left)
	}
	b.do(chromedp.Click(`button[value=approve]`))
	b.seesText("No removal is held")
	until(t, "approved removals are carried out", func() bool {
		b.open("/sites/1/changes?kind=removed")
		return eval[int](b, `document.querySelectorAll('.changes li').length`) > 0
	})
}

// keys works the page without a mouse.
func keys(b *tab) {
	b.t.Helper()
	b.open("/sites/1/urls")
	b.do(chromedp.KeyEvent("?"))
	b.sees("the overlay", `document.getElementById('keys').open`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.sees("no overlay", `!document.getElementById('keys').open`)
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent("k"), chromedp.KeyEvent("j"))
	b.sees("the second row", `document.querySelectorAll('tbody tr')[1].contains(document.activeElement)`)
	b.do(chromedp.KeyEvent("/"))
	b.sees("the search", `document.activeElement.type === 'search'`)
	b.do(chromedp.KeyEvent("tag"), chromedp.KeyEvent(kb.Enter))
	b.sees("what was searched", `/contains=.*tag/.test(location.search)`) // the driver types the slash itself, too
	until(b.t, "documents by g and d", func() bool {                      // which must follow each other fast, and find the script loaded
		b.do(chromedp.WaitReady("html.scripted"))
		if eval[string](b, `location.pathname`) == "/sites/1/documents" {
			return true
		}
		b.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("d"))
		return false
	})
	before := eval[string](b, `getComputedStyle(document.body).backgroundColor`)
	b.do(chromedp.KeyEvent("t"))
	b.sees("another theme", fmt.Sprintf(`getComputedStyle(document.body).backgroundColor !== %q`, before))
	b.sees("that the server keeps it", `(() => { if (document.documentElement.dataset.theme === 'dark' && performance.navigation.type === 0 && location.pathname === '/settings') return true; location.href = '/settings'; return false; })()`)
}
