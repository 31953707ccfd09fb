package storetest

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/sitemapd/sitemapd/models"
)

// change makes one random change of a page in a run and reports whether it made one.
func (h *history) change(run models.Run, next *model, url string) bool {
	p, known := next.pages[url]
	document := int32(rapid.IntRange(1, modelDocuments).Draw(h.t, "document"))
	content := fmt.Sprint("v", rapid.IntRange(1, 3).Draw(h.t, "content"))
	declare := func(in int32, content string, role models.Role) []models.Declaration {
		d := Page(url, content)
		d.FirstRun, d.Role = p.first, role
		return []models.Declaration{d}
	}
	key := KeyOf(url)
	switch {
	case !known || p.document == 0: // new, or back after a removal
		if !known { // a document that was read in part lists pages too
			p.first = run.ID
		}
		h.Stage(run, document, nil, declare(document, content, models.RoleDeclaration))
		p = modelPage{document: document, content: content, first: p.first}
	case p.stage != "": // an undecided case: back, removed or held
		switch rapid.SampledFrom([]string{models.StageRestored, models.StageRemoved, models.StageHeld}).Draw(h.t, "end") {
		case models.StageRestored:
			end := models.StageRestored
			if p.stage == models.StageLeftWindow {
				end = p.stage // which says that it ended by its run
			}
			h.saveCase(run, url, p, end)
			p.stage, p.ruling = "", ""
		case models.StageRemoved:
			if p.ruling == models.StageRejected || p.twin != 0 {
				return false
			}
			h.saveCase(run, url, p, models.StageRemoved)
			h.Stage(run, p.document, []models.Key{key}, nil)
			p = modelPage{content: p.content, first: p.first, removed: true}
		default:
			if p.stage != models.StagePending || p.ruling != "" {
				return false
			}
			h.saveCase(run, url, p, models.StageHeld)
			p.stage = models.StageHeld
		}
	default:
		return h.listedStep(run, next, url, p, document, content, declare)
	}
	next.pages[url] = p
	return true
}

// listedStep changes a page that is listed without a case.
func (h *history) listedStep(run models.Run, next *model, url string, p modelPage, document int32, content string,
	declare func(int32, string, models.Role) []models.Declaration) bool {
	key := KeyOf(url)
	switch rapid.SampledFrom([]string{"change", "move", "twin", "miss", "remove"}).Draw(h.t, "step") {
	case "change":
		if content == p.content {
			return false
		}
		h.Stage(run, p.document, []models.Key{key}, declare(p.document, content, models.RoleDeclaration))
		p.content = content
	case "move": // to another document, perhaps with another content; a twin there becomes the declaration
		if document == p.document {
			return false
		}
		h.Stage(run, p.document, []models.Key{key}, nil)
		var close []models.Key
		if p.twin == document {
			close, p.twin = []models.Key{key}, 0
		}
		h.Stage(run, document, close, declare(document, content, models.RoleDeclaration))
		p.document, p.content = document, content
	case "twin":
		switch {
		case p.twin != 0:
			h.Stage(run, p.twin, []models.Key{key}, nil)
			p.twin = 0
		case document != p.document:
			h.Stage(run, document, nil, declare(document, content, models.RoleDuplicate))
			p.twin = document
		default:
			return false
		}
	case "miss":
		p.stage, p.from = rapid.SampledFrom([]string{models.StagePending, models.StageHeld, models.StageLeftWindow}).Draw(h.t, "stage"), run.ID
		h.saveCase(run, url, p, p.stage)
	case "remove":
		if p.twin != 0 {
			return false
		}
		p.from = run.ID
		h.saveCase(run, url, p, models.StageRemoved)
		h.Stage(run, p.document, []models.Key{key}, nil)
		p = modelPage{content: p.content, first: p.first, removed: true}
	}
	next.pages[url] = p
	return true
}

// saveCase stages a page's case at a stage.
func (h *history) saveCase(run models.Run, url string, p modelPage, stage string) {
	c := Case(run, p.document, url, stage)
	c.FromRun, c.FirstRun = p.from, p.first
	if stage == models.StageRestored || stage == models.StageRemoved || c.FromRun < run.ID && stage == models.StageLeftWindow {
		c.DecidedRun = run.ID
	}
	h.SaveRemovals(run, c)
}

// rule lets a person decide every case at the current run.
func (h *history) rule(approve bool) {
	n, err := h.Store.DecideRemovals(h.Fixture.t.Context(), h.Site.ID, nil, approve)
	h.must(err)
	ruling := models.StageRejected
	if approve {
		ruling = models.StageApproved
	}
	for url, p := range h.now.pages {
		if p.stage != "" && p.stage != models.StageLeftWindow && p.ruling != ruling && (p.ruling == "" || !approve) { // all means none that was ruled on
			p.ruling = ruling
			h.now.pages[url] = p
			n--
		}
	}
	if n != 0 {
		h.t.Fatalf("%d more cases were ruled on than are undecided", n)
	}
	// The current run reads differently from now on; the runs before it do not.
	h.past[h.runs[len(h.runs)-1]] = h.now.clone()
}
