package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/internal/export"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// exportFlags is what a user says of an export.
type exportFlags struct {
	format, out, delimiter, base string
	gzip, bom, force             bool

	pages pageFlags
}

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export SITE",
		Short: "The inventory as CSV, NDJSON, XLSX, Parquet or sitemap.xml",
		Long: `Writes the pages of a site that the filters choose, the same ones as for ` + "`urls`" + `, with everything that is declared
of them.

Without --out the output goes to standard output. With --out FILE the format may follow from the file's name, and .gz
compresses. With --out DIR the file is named after the site; a sitemap becomes sitemap.xml, or beyond 50,000 pages or
50 MiB an index of that name with sitemap-1.xml, sitemap-2.xml, ... Files get their names when all of them are
complete; one that exists is left alone unless --force is given.`,
		Example: `  sitemapd export example.org --format csv > pages.csv
  sitemapd export example.org --out pages.xlsx --state all
  sitemapd export example.org --format sitemap --gzip --out /var/www/html --base-url https://example.org/ --force
  sitemapd export example.org --format ndjson --as-of 2026-11-01 --prefix https://example.org/blog/`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := a.exportOutput(&f) // before the database is opened: most mistakes are here
			if err != nil {
				return err
			}
			return a.withSite(func(ctx context.Context, s *store.Store, site models.Site, _ []string) error {
				return a.export(ctx, s, site, &f, o)
			})(cmd, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", export.Names())
	flags.StringVar(&f.out, "out", "", "file or folder to write to; standard output when missing")
	flags.BoolVar(&f.gzip, "gzip", false, "compress (csv, ndjson and the documents of a sitemap)")
	flags.BoolVar(&f.force, "force", false, "replace files that exist")
	flags.BoolVar(&f.bom, "bom", false, "csv: begin with a byte order mark, for Excel")
	flags.StringVar(&f.delimiter, "delimiter", ",", "csv: the separator, a comma, a semicolon or tab")
	flags.StringVar(&f.base, "base-url", "", "sitemap: where its documents will be served; the site's root when missing")
	f.pages.add(flags)
	return cmd
}

// exportOutput is where an export goes, as far as that is known without the site.
type exportOutput struct {
	format  export.Format
	options export.Options
	dir     string // "" for standard output
	file    string // in dir; "" to be named after the site, or for a sitemap of several documents
}

// exportOutput settles format and target.
func (a *app) exportOutput(f *exportFlags) (exportOutput, error) {
	o := exportOutput{options: export.Options{Gzip: f.gzip, BOM: f.bom}}
	guess, compressed, guessed := export.ForFile(f.out)
	found := false
	if o.format, found = export.Find(f.format); f.format == "" && guessed {
		o.format, found = guess, true
	}
	if !found && f.format == "" {
		return o, usage("--format is missing: %s", export.Names())
	} else if !found {
		return o, usage("--format %q: want %s", f.format, export.Names())
	}
	switch f.delimiter {
	case ",", ";", "\t":
		o.options.Comma = f.delimiter[0]
	case "tab", `\t`:
		o.options.Comma = '\t'
	default:
		return o, usage("--delimiter %q: want a comma, a semicolon or tab", f.delimiter)
	}
	if f.base != "" {
		u, err := url.Parse(f.base)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
			return o, usage("--base-url %q: want the address of a folder such as https://example.org/", f.base)
		}
		o.options.Base = strings.TrimSuffix(f.base, "/") + "/"
	}
	if err := f.target(&o, guessed && compressed); err != nil {
		return o, err
	}
	if o.options.Gzip && o.format.Packed && o.format.Name != "sitemap-zip" {
		return o, usage("--gzip: %s is compressed by itself", o.format.Name)
	}
	if o.dir == "" && terminal(a.out) && (!o.format.Text || o.options.Gzip) {
		return o, usage("%s is not for the eye: give --out FILE, or redirect the output", cmp.Or(map[bool]string{true: "gzip"}[o.options.Gzip], o.format.Name))
	}
	return o, nil
}

// target tells whether --out names a file or a folder.
func (f *exportFlags) target(o *exportOutput, compressed bool) error {
	if f.out == "" {
		return nil
	}
	info, err := os.Stat(f.out)
	isDir := err == nil && info.IsDir()
	named := filepath.Ext(f.out) != "" && !strings.HasSuffix(f.out, string(filepath.Separator))
	if isDir || o.format.Name == "sitemap" && err != nil && !named {
		o.dir = f.out
		return nil
	}
	if strings.HasSuffix(f.out, string(filepath.Separator)) {
		return usage("--out: there is no folder %s", f.out)
	}
	o.dir, o.file = filepath.Dir(f.out), filepath.Base(f.out)
	o.options.Gzip = o.options.Gzip || compressed
	return nil
}

// documentNumber finds a document by its URL or number.
func documentNumber(ctx context.Context, s *store.Store, site models.Site, name string, at models.AsOf) (int32, error) {
	documents, err := s.DocumentsAt(ctx, site.ID, at)
	if err != nil {
		return 0, err
	}
	for i := range documents {
		if d := &documents[i]; d.URL == name || strconv.Itoa(int(d.Number)) == name {
			return d.Number, nil
		}
	}
	return 0, usage("--document %q: %s has no such document; `sitemapd documents %s` lists them", name, site.Name, site.Name)
}

// export writes one site's pages.
func (a *app) export(ctx context.Context, s *store.Store, site models.Site, f *exportFlags, o exportOutput) error {
	filter, err := f.pages.filter(ctx, s, site)
	if err != nil {
		return err
	}
	if site.CurrentRun == 0 {
		return usage("%s was not read yet: `sitemapd sync %s` does", site.Name, site.Name)
	}
	if o.options.Base == "" {
		if o.options.Base, err = rootOf(site); err != nil {
			return err
		}
	}
	pages := func(e export.Encoder) (int, error) {
		n := 0
		err := s.Pages(ctx, site.ID, filter, func(p *models.Page) error {
			n++
			return e.Write(p)
		})
		if err == nil {
			err = e.Close()
		}
		if errors.Is(err, export.ErrTooLarge) {
			return n, usage("the pages are %w: give --out DIR, which may hold several, or --format sitemap-zip", err)
		}
		return n, err
	}
	if o.dir == "" {
		return a.exportStream(o, pages)
	}
	return a.exportFiles(site, o, f.force, pages)
}

// exportStream writes to standard output. A sitemap that proves too large for one document must not be half there
// already, so that it goes through a file.
func (a *app) exportStream(o exportOutput, pages func(export.Encoder) (int, error)) error {
	out := a.out
	var spool *os.File
	if o.format.Name == "sitemap" {
		var err error
		if spool, err = os.CreateTemp("", "sitemapd-*.xml"); err != nil {
			return fmt.Errorf("keep the sitemap until it is complete: %w", err)
		}
		defer func() { _, _ = spool.Close(), os.Remove(spool.Name()) }()
		out = spool
	}
	e, err := o.format.New(out, o.options)
	if err != nil {
		return err
	}
	if _, err := pages(e); err != nil || spool == nil {
		return err
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the complete sitemap: %w", err)
	}
	_, err = io.Copy(a.out, spool)
	return err
}

// exportFiles writes to files that get their names at the end.
func (a *app) exportFiles(site models.Site, o exportOutput, replace bool, pages func(export.Encoder) (int, error)) error {
	several := o.format.Name == "sitemap" && o.file == ""
	if several {
		if err := os.MkdirAll(o.dir, 0o755); err != nil {
			return fmt.Errorf("create %s: %w", o.dir, err)
		}
	}
	staged, err := export.Stage(o.dir, replace)
	if err != nil {
		return err
	}
	defer staged.Abort()
	e, finish, err := openFiles(staged, site, o, several)
	if err != nil {
		return err
	}
	n, err := pages(e)
	if err != nil {
		return err
	}
	if err := finish(); err != nil {
		return err
	}
	names, size := staged.Names()
	if err := staged.Commit(); err != nil {
		return err
	}
	what := names[len(names)-1] // of a sitemap the whole
	if len(names) > 1 {
		what += fmt.Sprintf(" and %d documents", len(names)-1)
	}
	fmt.Fprintf(a.errOut, "%d pages in %s, %d bytes\n", n, filepath.Join(o.dir, what), size)
	return nil
}

// openFiles starts an output on staged files; finish completes what the encoder does not close.
func openFiles(staged *export.Staged, site models.Site, o exportOutput, several bool) (e export.Encoder, finish func() error, err error) {
	suffix := ""
	if o.options.Gzip && !o.format.Packed {
		suffix = ".gz"
	}
	if several {
		if err := staged.Check("sitemap.xml" + suffix); err != nil {
			return nil, nil, err
		}
		e, err = export.NewSitemap(staged, o.options)
		return e, func() error { return nil }, err
	}
	file, err := staged.Create(cmp.Or(o.file, fileName(site.Name)+o.format.Extension+suffix))
	if err != nil {
		return nil, nil, err
	}
	e, err = o.format.New(file, o.options)
	return e, file.Close, err
}

// fileName makes a site's name fit to name a file.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, name)
	return cmp.Or(strings.TrimLeft(name, "."), "pages")
}

// rootOf gives the top of a site's host, from which a sitemap may speak of every page.
func rootOf(site models.Site) (string, error) {
	u, problem := weburl.Parse(nil, []byte(site.Root))
	if problem != weburl.None {
		return "", fmt.Errorf("root %q of site %s: %s", site.Root, site.Name, problem)
	}
	return string(u.Origin()) + "/", nil
}
