package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/models"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// checked is the contract's *Document*.
type checked struct {
	URL             string               `json:"url"`
	FinalURL        string               `json:"final_url,omitempty"`
	Type            string               `json:"type"`
	Verdict         string               `json:"verdict"`
	Reason          string               `json:"reason,omitempty"`
	Status          int                  `json:"status,omitempty"`
	ContentType     string               `json:"content_type,omitempty"`
	Encoding        string               `json:"encoding,omitempty"`
	Compression     string               `json:"compression"`
	Bytes           int64                `json:"bytes"`
	BytesInflated   int64                `json:"bytes_inflated"`
	SemanticHash    string               `json:"semantic_hash,omitempty"`
	Generator       string               `json:"generator"`
	Namespaces      []string             `json:"namespaces"`
	Declarations    []checkedDeclaration `json:"declarations"`
	Children        []checkedChild       `json:"children"`
	Findings        []models.Finding     `json:"findings"`
	Validation      sitemap.Validation   `json:"validation"`
	Confidence      map[string]float64   `json:"confidence"`
	Provenance      map[string]any       `json:"provenance"`
	Extensions      []string             `json:"extensions,omitempty"`
	Duplicates      int                  `json:"duplicates,omitempty"`
	Foreign         int                  `json:"foreign,omitempty"`
	Transformations []string             `json:"-"`
}

type checkedDeclaration struct {
	Loc        string          `json:"loc"`
	Lastmod    *models.Lastmod `json:"lastmod,omitempty"`
	Changefreq string          `json:"changefreq,omitempty"`
	Priority   *float64        `json:"priority,omitempty"`
	Foreign    bool            `json:"foreign,omitempty"`
	Line       int             `json:"line"`
	extensions map[string]json.RawMessage
}

// MarshalJSON puts the extension blocks beside the fields.
func (d checkedDeclaration) MarshalJSON() ([]byte, error) {
	type fields checkedDeclaration
	text, err := marshal(fields(d))
	if err != nil || len(d.extensions) == 0 {
		return text, err
	}
	more, err := marshal(d.extensions)
	if err != nil {
		return nil, err
	}
	return append(append(text[:len(text)-1], ','), more[1:]...), nil
}

type checkedChild struct {
	Loc     string          `json:"loc"`
	Lastmod *models.Lastmod `json:"lastmod,omitempty"`
	Foreign bool            `json:"foreign,omitempty"`
	Line    int             `json:"line"`
}

func (a *app) checkCommand() *cobra.Command {
	var base string
	cmd := &cobra.Command{
		Use:   "check FILE|URL",
		Short: "Read one sitemap and say what it declares and what is wrong with it",
		Long: `Reads one document, without database and without following an index. A FILE of - is standard input; --base-url
says where a file was published, so that hosts and relative URLs can be judged.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.load(cmd); err != nil {
				return err
			}
			doc, err := a.check(cmd.Context(), args[0], base)
			if err != nil {
				return err
			}
			if err := a.object(doc, func(w io.Writer) { checkTable(w, doc) }); err != nil {
				return err
			}
			return checkExit(doc.Verdict)
		},
	}
	cmd.Flags().StringVar(&base, "base-url", "", "where the file was published")
	return cmd
}

func checkExit(verdict string) error {
	switch verdict {
	case "complete":
		return nil
	case "partial":
		return &exitError{code: exitPartial}
	case "not_a_sitemap":
		return &exitError{code: exitNotSitemap}
	}
	return &exitError{code: exitUnavailable}
}

func (a *app) check(ctx context.Context, name, base string) (*checked, error) {
	if scheme := strings.ToLower(name[:min(len(name), len("https://"))]); strings.HasPrefix(scheme, "http://") || scheme == "https://" {
		return a.checkURL(ctx, name)
	}
	in := io.ReadCloser(os.Stdin)
	if name != "-" {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			return nil, usage("read %s: it is a directory; name a file in it", name)
		}
		f, err := os.Open(name)
		if scheme, _, absolute := strings.Cut(name, "://"); err != nil && absolute {
			return nil, usage("read %s: %q is no scheme that is read; name an http or https URL, a file, or - for standard input", name, scheme)
		} else if err != nil {
			return nil, usage("read %s: %w; name a file, a URL with its scheme, or - for standard input", name, err)
		}
		in = f
	}
	defer in.Close()
	if base == "" {
		if path, err := filepath.Abs(name); err == nil {
			base = "file://" + path
		}
	}
	out := &checked{URL: base, Provenance: map[string]any{"discovery_method": "direct_URL"}}
	return out, out.read(in, base, sitemap.Meta{})
}

func (a *app) checkURL(ctx context.Context, name string) (*checked, error) {
	client := a.client()
	defer client.Close()
	out := &checked{URL: name, Provenance: map[string]any{"discovery_method": "direct_URL"}}
	res, err := client.Read(ctx, fetch.Request{URL: name, Origin: name, Kind: fetch.Document}, func(r *fetch.Result) error {
		fresh := checked{URL: name, Provenance: out.Provenance}
		*out = fresh
		return out.read(r.Body, r.FinalURL, sitemap.Meta{ContentType: r.ContentType, ContentEncoding: r.ContentEncoding, Status: r.Status})
	})
	if err != nil {
		return nil, err
	}
	out.Status, out.FinalURL, out.ContentType = res.Status, res.FinalURL, res.ContentType
	out.Provenance["retrieved_at"] = res.FetchedAt.UTC().Format(time.RFC3339Nano)
	if !res.HasBody() {
		out.Namespaces, out.Declarations, out.Children, out.Confidence = []string{}, []checkedDeclaration{}, []checkedChild{}, map[string]float64{}
		out.Validation.Errors = 1
		out.Provenance["sitemap_url"] = name
		out.Type, out.Verdict, out.Reason, out.Compression, out.Generator = "none", "unavailable", res.Reason, "none", "unknown"
		out.Findings = []models.Finding{{Code: syncer.OutcomeCode(res), Severity: models.SeverityError, Text: res.Reason}}
	}
	return out, nil
}

// read fills in what the reader finds.
func (c *checked) read(src io.Reader, base string, meta sitemap.Meta) error {
	c.Declarations, c.Children, c.Findings, c.Namespaces = []checkedDeclaration{}, []checkedChild{}, []models.Finding{}, []string{}
	doc, err := sitemap.NewReader(sitemap.Options{}).Read(src, base, meta, sitemap.Visitor{
		Declaration: func(d *sitemap.Declaration) error {
			row := checkedDeclaration{Loc: string(d.Loc), Lastmod: syncer.LastmodOf(&d.Lastmod), Changefreq: d.Changefreq.String(),
				Foreign: d.Foreign, Line: d.Line}
			if d.Priority.Set {
				p := d.Priority.Float()
				row.Priority = &p
			}
			if d.HasExtensions() {
				if err := json.Unmarshal(sitemap.AppendExtensions(nil, d), &row.extensions); err != nil {
					return fmt.Errorf("extensions of line %d: %w", d.Line, err)
				}
			}
			c.Declarations = append(c.Declarations, row)
			return nil
		},
		Child: func(d *sitemap.Child) error {
			c.Children = append(c.Children, checkedChild{Loc: string(d.Loc), Lastmod: syncer.LastmodOf(&d.Lastmod), Foreign: d.Foreign, Line: d.Line})
			return nil
		},
	})
	if err != nil {
		return err
	}
	c.Type, c.Verdict, c.Reason = doc.Type.String(), doc.Verdict.String(), doc.Reason
	c.Encoding, c.Compression, c.Bytes, c.BytesInflated = doc.Encoding, doc.Compression, doc.Bytes, doc.BytesInflated
	c.Generator, c.Extensions, c.Duplicates, c.Foreign = doc.Generator, doc.Extensions, doc.Duplicates, doc.Foreign
	c.Namespaces = append(c.Namespaces, doc.Namespaces...)
	if doc.Readable() {
		c.SemanticHash = doc.SemanticHex()
	}
	c.Validation = doc.Validation
	c.Findings = append(c.Findings, syncer.FindingsOf(doc, "")...)
	c.Confidence = confidenceOf(doc)
	c.Provenance["parser"] = "sitemapd/" + version()
	c.Provenance["generator"] = strings.TrimSpace(doc.Generator + " " + doc.GeneratorVersion)
	c.Provenance["transformations"] = append([]string{}, doc.Transformations...)
	c.Provenance["sitemap_url"] = base
	return nil
}

// confidenceOf applies the sitemap ontology's table to one document read now.
func confidenceOf(doc *sitemap.Document) map[string]float64 {
	if !doc.Readable() {
		return map[string]float64{}
	}
	c := map[string]float64{"type": 1.00, "listing": 0.99, "membership": 0.85, "identity": 0.75}
	if doc.Verdict != sitemap.Complete {
		c["listing"] = 0.60
	}
	if doc.Dated > 0 {
		c["lastmod"] = 0.90
	}
	if len(doc.Extensions) > 0 {
		c["extensions"] = 0.98
	}
	return c
}

func checkTable(w io.Writer, d *checked) {
	fmt.Fprintf(w, "%s\n%s, %s", d.URL, d.Type, d.Verdict)
	if d.Reason != "" {
		fmt.Fprintf(w, " (%s)", plain(d.Reason))
	}
	fmt.Fprintf(w, "\n%d pages, %d documents; generator %s, %s, %s, %d bytes (%d inflated)\n", len(d.Declarations), len(d.Children),
		d.Generator, d.Encoding, d.Compression, d.Bytes, d.BytesInflated)
	for _, f := range d.Findings {
		fmt.Fprintf(w, "%s %s", f.Severity, f.Code)
		if f.Line > 0 {
			fmt.Fprintf(w, " line %d", f.Line)
		}
		fmt.Fprintf(w, ": %s\n", plain(f.Text))
	}
	for i, x := range d.Declarations {
		if i == 20 {
			fmt.Fprintf(w, "and %d more pages (-o json shows all)\n", len(d.Declarations)-i)
			return
		}
		fmt.Fprintf(w, "%s %s\n", plain(x.Loc), lastmodText(x.Lastmod))
	}
	for _, x := range d.Children {
		fmt.Fprintf(w, "%s\n", plain(x.Loc))
	}
}

func (a *app) probeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "probe URL",
		Short: "Find the sitemaps of a home page and show every place that was tried",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.load(cmd); err != nil {
				return err
			}
			client := a.client()
			defer client.Close()
			_, probe, err := syncer.Discover(cmd.Context(), client, args[0], true)
			if err != nil && len(probe.Candidates) == 0 {
				return err
			}
			if print := a.object(probe, func(w io.Writer) { probeTable(a, probe) }); print != nil {
				return print
			}
			return err
		},
	}
}

func probeTable(a *app, probe syncer.Probe) {
	out := a.printer("chosen", "url", "by", "status", "root", "entries", "reason")
	for _, c := range probe.Candidates {
		chosen := ""
		if c.Chosen {
			chosen = "*"
		}
		_ = out.row(c, chosen, c.URL, c.Discovery, fmt.Sprint(c.Status), c.Root, fmt.Sprint(c.Entries+c.Children), c.Reason)
	}
	_ = out.close()
	fmt.Fprintf(a.out, "generator: %s\n", probe.Generator)
}
