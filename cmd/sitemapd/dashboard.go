package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sitemapd/sitemapd/handlers"
	"github.com/sitemapd/sitemapd/internal/export"
	"github.com/sitemapd/sitemapd/models"
	syncer "github.com/sitemapd/sitemapd/sync"
)

// dashboard adds to what the HTTP side needs the parts that it must not import: discovery, exports and the catalogue.
func (d *daemon) dashboard(deps handlers.Deps) handlers.Deps {
	deps.Reports, deps.Segments, deps.Languages, deps.Export = d.store, d.store, d.store, inventoryExport{}
	deps.Discover = d.discover
	deps.Preview = d.preview
	deps.Evidence = d.pages.Evidence
	deps.Rules, deps.RuleOf = rules, ruleOf
	return deps
}

// discover finds the sitemaps of an address with the daemon's own client.
func (d *daemon) discover(ctx context.Context, link string, all bool) (models.Site, handlers.Probe, error) {
	site, found, err := syncer.Discover(ctx, d.client, link, all)
	probe := handlers.Probe{Home: found.Home, Generator: found.Generator}
	for _, c := range found.Candidates {
		probe.Candidates = append(probe.Candidates, handlers.Candidate{URL: c.URL, FinalURL: c.FinalURL, Discovery: c.Discovery, Status: c.Status,
			Root: c.Root, Verdict: c.Verdict, Reason: c.Reason, Entries: c.Entries, Children: c.Children, Chosen: c.Chosen})
	}
	return site, probe, err
}

// preview gives what a sitemap lists first.
func (d *daemon) preview(ctx context.Context, link string, limit int) ([]string, error) {
	doc, err := d.checkURL(ctx, link)
	if err != nil {
		return nil, err
	}
	var first []string
	for _, c := range doc.Children[:min(len(doc.Children), limit)] {
		first = append(first, c.Loc)
	}
	for _, p := range doc.Declarations[:min(len(doc.Declarations), limit-len(first))] {
		first = append(first, p.Loc)
	}
	return first, nil
}

// inventoryExport is package export as the HTTP side sees it.
type inventoryExport struct{}

func (inventoryExport) Formats() []handlers.ExportFormat {
	var all []handlers.ExportFormat
	for _, f := range export.Formats() {
		all = append(all, handlers.ExportFormat{Name: f.Name, ContentType: f.ContentType, Extension: f.Extension})
	}
	return all
}

// Export writes pages in one format. A sitemap that proves too large for one document must not be half there already,
// so that one goes through a file.
func (inventoryExport) Export(_ context.Context, w io.Writer, format, base string, pages func(func(*models.Page) error) error) error {
	f, found := export.Find(format)
	if !found {
		return models.Invalid("format", export.Names(), "unknown format %q", format)
	}
	out := w
	var spool *os.File
	if f.Name == "sitemap" {
		var err error
		if spool, err = os.CreateTemp("", "sitemapd-*.xml"); err != nil {
			return fmt.Errorf("keep the sitemap until it is complete: %w", err)
		}
		defer func() { _, _ = spool.Close(), os.Remove(spool.Name()) }()
		out = spool
	}
	e, err := f.New(out, export.Options{Base: base})
	if err != nil {
		return err
	}
	if err = pages(e.Write); err == nil {
		err = e.Close()
	}
	if errors.Is(err, export.ErrTooLarge) {
		return models.Invalid("format", "choose sitemap-zip, which may hold several", "the pages are %s", export.ErrTooLarge)
	}
	if err != nil || spool == nil {
		return err
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the complete sitemap: %w", err)
	}
	_, err = io.Copy(w, spool)
	return err
}
