package syncer

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// walk reads every document reachable from the site's roots, breadth first, each once. Parents are read whole before
// their children, whatever an index says of its children's lastmod or whether it changed at all.
func (r *run) walk(ctx context.Context) error {
	r.order, r.claimed = r.order[:0], map[models.Key]*document{}
	r.record.Documents, r.limited, r.findings = models.RunDocuments{}, "", nil
	r.summary.known = nil // what an earlier walk read ahead; rows may have changed since
	for _, d := range r.documents {
		d.visited, d.alias, d.failed, d.same = false, false, false, false
	}
	level := r.roots()
	for depth := 0; len(level) > 0; depth++ {
		if err := r.level(ctx, level); err != nil {
			return err
		}
		level = r.next(level, depth+1)
	}
	return ctx.Err()
}

func (r *run) roots() []*document {
	roots := r.site.Roots
	if len(roots) == 0 {
		roots = []models.Root{{URL: r.site.Root, Discovery: "direct_URL"}}
	}
	var level []*document
	for _, root := range roots {
		u, problem := weburl.Parse(nil, []byte(root.URL))
		if problem != weburl.None {
			r.note("root-invalid", models.SeverityError, root.URL, "the root is no usable URL: "+problem.String())
			continue
		}
		if d := r.claim(models.Key(u.Key()), root.URL, nil, root.Discovery); d != nil {
			level = append(level, d)
		}
	}
	return level
}

// claim takes a document into this walk, or nothing when the walk has it already.
func (r *run) claim(key models.Key, url string, parent *document, discovery string) *document {
	if r.claimed[key] != nil {
		return nil
	}
	d := r.documents[key]
	if d == nil {
		r.numbers++
		d = &document{Document: models.Document{SiteID: r.site.ID, Number: r.numbers, URL: url, Key: key, FirstRun: r.record.ID}}
		r.documents[key] = d
	}
	d.Discovery, d.Parent, d.Depth = discovery, 0, 0
	if parent != nil {
		d.Parent, d.Depth = parent.Number, parent.Depth+1
	}
	r.claimed[key] = d
	r.order = append(r.order, d)
	return d
}

// level reads documents side by side; each is staged by the worker that read it.
func (r *run) level(ctx context.Context, level []*document) error {
	r.batch.on = true
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(r.o.Fetches)
	for _, d := range level {
		g.Go(func() error {
			ctx := within
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			ctx, end := r.span(ctx, "document", "url.full", d.URL)
			err := r.document(ctx, d)
			end(string(d.Verdict), err)
			if err != nil {
				return fmt.Errorf("document %s: %w", d.URL, err)
			}
			r.step("walking", d.URL)
			return nil
		})
	}
	err := g.Wait()
	r.batch.on = false
	rest, sums, validators := r.takeBatch(), r.takeSums(), r.takeValidators()
	if err == nil {
		err = r.stageBatch(ctx, rest)
	}
	if err == nil {
		err = r.writeSums(ctx, sums)
	}
	if err == nil {
		err = r.writeValidators(ctx, validators)
	}
	return err
}

func (r *run) document(ctx context.Context, d *document) error {
	b := r.benches.Get().(*bench)
	defer r.benches.Put(b)
	a := r.fetch(ctx, d, b)
	if a.Outcome == fetch.NotModified && !r.knowsChildren(d) {
		a = r.fetchWhole(ctx, d, b)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // our own end, not the site's fault
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := r.datePast(ctx, d, &a); err != nil {
		return err
	}
	got := r.read(d, a, b)
	r.redirected(d, &got)
	if err := r.apply(ctx, d, &got, b); err != nil {
		return err
	}
	r.count(d, &got, int64(len(b.found.entries)))
	return nil
}

func (r *run) count(d *document, got *reading, entries int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record.Requests += got.requests
	r.record.Bytes += got.bytes
	if got.aged {
		r.record.Cached++
	}
	switch {
	case d.failed:
		r.record.Documents.Failed++
	case d.same:
		r.record.Documents.Unchanged++
		entries = d.Entries
	default:
		r.record.Documents.Read++
	}
	r.pages.Add(entries)
}

// redirected makes a document an alias when it answered with another one that the walk reads anyway: an index whose
// child redirects back to it must not be read twice. An answer that could not be read makes none: the other document has
// been read before its answer turned into this one.
func (r *run) redirected(d *document, got *reading) {
	if got.version.FinalURL == "" || got.version.FinalURL == d.URL {
		return
	}
	u, problem := weburl.Parse(nil, []byte(got.version.FinalURL))
	if problem != weburl.None {
		return
	}
	key := models.Key(u.Key())
	r.mu.Lock()
	defer r.mu.Unlock()
	other := r.claimed[key]
	switch {
	case other == nil:
		r.claimed[key] = d
	case other != d && got.version.Verdict.Read():
		d.alias = true
		got.findings = append(got.findings, models.Finding{Code: "redirects-to-known", Severity: models.SeverityWarning,
			Document: d.URL, Text: "redirects to " + got.version.FinalURL + ", which the walk reads anyway"})
		got.version.FindingsHash = hashFindings(got.findings)
	}
}

// next gathers the children of a level in order.
func (r *run) next(level []*document, depth int) []*document {
	var next []*document
	for _, d := range level {
		if d.alias || !d.lists() {
			continue
		}
		for _, c := range r.childrenOf(d) {
			switch {
			case c.foreign:
				r.note("child-foreign-host", models.SeverityWarning, d.URL, "lists "+c.url+" on another host, which is not followed")
				continue
			case depth > r.o.MaxDepth:
				r.limit(d.URL, "index-too-deep", fmt.Sprintf("indexes are nested more than %d deep", r.o.MaxDepth))
				continue
			case len(r.order) >= r.o.MaxDocuments:
				r.limit(d.URL, "too-many-documents", fmt.Sprintf("the site lists more than %d documents", r.o.MaxDocuments))
				continue
			}
			if !r.wanted(c) {
				continue
			}
			if child := r.claim(models.Key(weburl.KeyOf(c.id)), c.url, d, "sitemap_index"); child != nil {
				child.declared = c.lastmod
				next = append(next, child)
			}
		}
	}
	return next
}

// wanted tells whether this walk reads a child: a targeted one reads what it aims at and what it has never seen.
func (r *run) wanted(c child) bool {
	if r.target == nil {
		return true
	}
	d := r.documents[models.Key(weburl.KeyOf(c.id))]
	return d == nil || !d.known || d.lists() || r.target[d.Number] || !d.Verdict.Read()
}

// childrenOf gives what an index lists: as read in this walk, else, when the site said that it did not change, or it
// could not be read, as stored.
func (r *run) childrenOf(d *document) []child {
	if d.children != nil || d.failed {
		return d.children
	}
	var out []child
	for _, other := range sortedByNumber(r.documents) {
		if !other.known || other.Parent != d.Number || other == d || other.previous.Verdict == models.VerdictGone {
			continue
		}
		if u, problem := weburl.Parse(nil, []byte(other.URL)); problem == weburl.None {
			out = append(out, child{url: other.URL, id: append([]byte(nil), u.Identity...), lastmod: other.previous.Lastmod})
		}
	}
	return out
}

// knowsChildren tells whether what an index lists is known when it answers that it did not change. A child that is a root
// too, or that another index listed first, is not stored under it.
func (r *run) knowsChildren(d *document) bool {
	return !d.lists() || d.children != nil || int64(len(r.childrenOf(d))) == d.Children
}

// limit records that a limit of ours cut the walk short, so that it proves no absence.
func (r *run) limit(url, code, text string) {
	if r.limited == "" {
		r.limited = text
		r.note(code, models.SeverityError, url, text)
	}
}

// note adds a finding about the run as a whole.
func (r *run) note(code, severity, url, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.findings) < 200 {
		r.findings = append(r.findings, models.Finding{Code: code, Severity: severity, Document: url, Text: text})
	}
}

// verdict of the walk so far.
func (r *run) verdict() models.Verdict {
	roots, read, failed := 0, 0, 0
	for _, d := range r.order {
		if d.Depth == 0 {
			roots++
			if !d.failed || d.Verdict == models.VerdictPartial {
				read++
			}
		}
		if d.failed {
			failed++
		}
	}
	switch {
	case read == 0:
		return models.VerdictUnavailable
	case failed > 0 || r.limited != "" || read < roots:
		return models.VerdictPartial
	}
	return models.VerdictComplete
}
