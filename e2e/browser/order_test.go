package browser_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// shown are the addresses of the inventory's rows.
const shown = `[...document.querySelectorAll('tbody tr td.url:first-child a')].map((a) => new URL(a.href).searchParams.get('url'))`

// ordered sorts the inventory by the heads of its columns, and by the form.
func ordered(t *testing.T, b *tab) {
	t.Helper()
	b.open("/sites/1/urls?state=all")
	first := eval[[]string](b, shown)
	if !slices.IsSorted(first) || eval[string](b, `document.querySelector('thead th:first-child').getAttribute('aria-sort')`) != "ascending" {
		t.Errorf("unasked: %q", first)
	}
	b.do(chromedp.Click(`thead th:first-child a`))
	b.sees("sorted from the end", `location.search.includes('sort=-url') && document.querySelector('thead th:first-child').getAttribute('aria-sort') === 'descending'`)
	last := eval[[]string](b, shown)
	if slices.Reverse(last); !slices.IsSorted(last) || last[len(last)-1] < first[len(first)-1] {
		t.Errorf("from the end: %q", last)
	}
	b.do(chromedp.Click(`.pager a[rel=next]`))
	b.sees("the next page, in the same order", `location.search.includes('page_token') && location.search.includes('sort=-url')`)
	if next := eval[[]string](b, shown); len(next) == 0 || next[0] >= last[0] {
		t.Errorf("behind %s comes %q", last[0], next)
	}
	b.do(chromedp.Click(`thead th a[href*="sort=-lastmod"]`))
	b.sees("the newest first, from the beginning", `location.search.includes('sort=-lastmod') && !location.search.includes('page_token')`)
	stamps := eval[[]string](b, `[...document.querySelectorAll('tbody td[data-label^=Lastmod] time')].map((e) => e.dateTime)`)
	if slices.Reverse(stamps); len(stamps) < 10 || !slices.IsSorted(stamps) {
		t.Errorf("lastmods: %q", stamps)
	}
	b.do(chromedp.SendKeys(`select[name=sort]`, "first seen, old"), chromedp.SendKeys(`.filter input[name=contains]`, "category"), chromedp.Click(`.filter button`))
	b.sees("the order of the form, beside a filter", `location.search.includes('sort=first_seen') && location.search.includes('contains=category')`)
	if links := eval[[]string](b, `[...document.querySelectorAll('.tools a')].map((a) => a.getAttribute('href'))`); slices.ContainsFunc(links, func(l string) bool { return !strings.Contains(l, "sort=first_seen") }) {
		t.Errorf("exports and API in another order: %q", links)
	}
}

// forgetting sets how long history is kept, which must be said twice.
func forgetting(t *testing.T, b *tab, script string) {
	t.Helper()
	b.open("/sites/1/settings")
	b.do(chromedp.Click(`.filterbox summary`))
	b.seesText("nothing brings it back")
	b.do(chromedp.SendKeys(`input[name=retention]`, "400d"), chromedp.Click(`button[value=save]`))
	b.seesText("confirm it below")
	b.forget("422")
	b.sees("what was typed", `document.querySelector('input[name=retention]').value === '400d' && document.querySelector('input[name=forget]') !== null`)
	for _, v := range accessibility(t, b, script) {
		t.Errorf("%s: %s: %q", v.ID, v.Help, v.Targets)
	}
	eval[bool](b, `(document.querySelector('input[name=forget]').scrollIntoView({block: 'center'}), true)`)
	picture(t, b, "retention-light")
	b.do(chromedp.Click(`input[name=forget]`), chromedp.Click(`button[value=save]`))
	b.seesText("Saved.")
	b.sees("that it is kept", `document.querySelector('input[name=retention]').value === '400d' && document.querySelector('input[name=forget]') === null`)
}

// zoned reads times in a chosen zone, with UTC beside, and turns to longer reports by keys.
func zoned(t *testing.T, b *tab) {
	t.Helper()
	b.open("/settings")
	b.do(chromedp.SendKeys(`input[name=zone]`, "Asia/Tokyo"), chromedp.Click(`form[action="/zone"] button`))
	b.seesText("Saved.")
	b.open("/sites/1/runs")
	b.sees("Tokyo's clock, with UTC on hover", `(() => {
		const time = document.querySelector('tbody time[title$="UTC"]'), tokyo = new Date(new Date(time.dateTime).getTime() + 9 * 3600e3);
		const clock = new Intl.DateTimeFormat(undefined, {hour: '2-digit', minute: '2-digit', second: '2-digit', timeZone: 'UTC'}).format(tokyo);
		return document.documentElement.dataset.zone === 'Asia/Tokyo' && time.textContent.endsWith(clock);
	})()`)
	b.open("/settings")
	eval[bool](b, `(document.querySelector('input[name=zone]').value = '', true)`)
	b.do(chromedp.Click(`form[action="/zone"] button`))
	b.sees("the browser's own again", `document.documentElement.dataset.zone === undefined && document.body.innerText.includes('Saved.')`)
	b.open("/sites/1/reports?days=30")
	b.do(chromedp.WaitReady("html.scripted"), chromedp.KeyEvent("]"))
	b.sees("a longer period", `location.search === '?days=90' && document.documentElement.classList.contains('scripted')`)
	b.do(chromedp.KeyEvent("["))
	b.sees("a shorter one", `location.search === '?days=30'`)
}

// going finds a screen by words, with keys where there are scripts.
func going(b *tab, scripts bool) {
	b.t.Helper()
	b.open("/sites/1/runs")
	if scripts {
		b.do(chromedp.WaitReady("html.scripted"), chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	} else {
		b.do(chromedp.Click(`a[aria-keyshortcuts="Control+K"]`))
	}
	b.sees("the screens of the site first", `location.pathname === '/go' && document.querySelector('[data-places] a').getAttribute('href') === '/sites/1'`)
	b.do(chromedp.SendKeys(`[data-go] input[name=q]`, "docum"))
	if scripts {
		b.sees("one place while it is typed", `document.querySelectorAll('[data-places] a').length === 1`)
	}
	b.do(chromedp.SendKeys(`[data-go] input[name=q]`, kb.Enter))
	b.sees("that screen", `location.pathname === '/sites/1/documents'`)
}
