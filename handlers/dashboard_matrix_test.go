package handlers_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/models"
)

type languages map[string]string // by URL, its extensions

func (languages) LanguageCounts(context.Context, int64) ([]models.LanguageCount, error) {
	return []models.LanguageCount{{Pages: 40}, {Language: "de", Pages: 30}, {Language: "x-default", Pages: 10}}, nil
}

func (l languages) Listed(_ context.Context, _, _ int64, keys []models.Key) ([]models.Declaration, error) {
	var out []models.Declaration
	for link, extensions := range l {
		own, _ := keyFor(link)
		for _, key := range keys {
			if key == own {
				out = append(out, models.Declaration{Key: key, URL: link, Extensions: []byte(extensions)})
				break
			}
		}
	}
	return out, nil
}

func TestHreflang_TellsWhichVersionsAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich, func(f *fixture) {
		f.deps.Languages = languages{
			"https://example.com/de/": `{"alternates":[{"hreflang":"en","href":"https://example.com/en/"}]}`,
			"https://example.com/fr/": `{"images":[{"loc":"https://example.com/x.jpg"}]}`,
		}
	})
	key, _ := keyFor("https://example.com/en/")
	f.store.PagesFunc = func(_ int64, filter models.PageFilter, fn func(*models.Page) error) error {
		if filter.Extension != "alternates" {
			t.Errorf("pages without versions are read: %+v", filter)
		}
		return fn(&models.Page{URL: "https://example.com/en/", Key: key, State: models.StateLive, Alternates: json.RawMessage(
			`[{"hreflang":"EN","href":"https://example.com/en/"},{"hreflang":"de","href":"https://example.com/de/"},{"hreflang":"fr","href":"https://example.com/fr/"},` +
				`{"hreflang":"it","href":"https://example.com/it/"},{"hreflang":"es","href":"javascript:alert(1)"}]`)})
	}
	page := text(t, f.get("/sites/1/hreflang"))
	for _, want := range []string{`class="cell self"`, `class="cell answered"`, `class="cell unheard"`, `class="cell unlisted"`, "x-default", "40 pages declare versions."} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Count(page, `class="cell unlisted" href`) != 2 || strings.Count(page, `class="cell answered" href`) != 1 || strings.Contains(page, `href="javascript:`) {
		t.Errorf("%.6000s", page)
	}
}

func TestCompare_SaysWhatIsWrongBesideTheForm(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	if page := text(t, f.get("/sites/1/compare")); !strings.Contains(page, "Choose two moments above") || !strings.Contains(page, "by the last run") {
		t.Errorf("%.3000s", page)
	}
	r := f.get("/sites/1/compare?from=soon")
	wantStatus(t, r, 422)
	if page := text(t, r); !strings.Contains(page, "neither a run nor a time") || !strings.Contains(page, `value="soon"`) {
		t.Errorf("%.3000s", page)
	}
	f.store.DiffFunc = func(_ int64, filter models.DiffFilter, fn func(*models.Change) error) error {
		if filter.From.Time.Day() != 23 || len(filter.Kinds) != 1 {
			t.Errorf("compared: %+v", filter)
		}
		return fn(&models.Change{Kind: models.KindChanged, URL: "https://example.com/a/", At: now, Fields: []models.FieldChange{{Field: "priority", Old: 0.5, New: 0.8}}})
	}
	r = f.get("/sites/1/compare?from=-7d&kind=changed")
	wantStatus(t, r, 200)
	if page := text(t, r); !strings.Contains(page, "from=2026-11-23T00%3A00%3A00Z") || !strings.Contains(page, "kind=changed") {
		t.Errorf("the export is of another comparison: %.6000s", page)
	}
}

func TestPage_SaysWhatAnAbsenceRestsOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	f.store.PageHistoryFunc = func(int64, models.Key) ([]models.Page, error) {
		return []models.Page{{URL: "https://example.com/old/", State: models.StateRemoved, FromRun: 7, Document: "https://example.com/a.xml", Removal: &models.PageRemoval{
			Stage: models.StageRemoved, FromRun: 6, RemovalEvidence: models.RemovalEvidence{Hook: true, Status: 404, Control: &models.PageAnswer{URL: "https://example.com/still/", Status: 200},
				Missing: []models.Sighting{{Run: 6, Document: "https://example.com/<a>.xml", ByteHash: "ab12cd", Observed: now}}},
		}}}, nil
	}
	page := text(t, f.get("/sites/1/page?url=https://example.com/old/"))
	for _, want := range []string{"What the absence rests on", `href="/sites/1/runs/6"`, "https://example.com/&lt;a&gt;.xml", "ab12cd", "A publish hook said", "The page itself answered 404", "https://example.com/still/</span> answered 200"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %.5000s", want, page)
		}
	}
}
