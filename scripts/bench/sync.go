package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// Steps of a scenario, in order.
const (
	stepFirst     = "first run"
	step304       = "all 304"
	stepIdentical = "identical bytes"
	stepReparsed  = "no change, all re-parsed"
	stepChanged   = "1 % changed"
	stepCompared  = "no change, every row compared"
	// Floors.
	floorFetch = "floor: fetch + gunzip"
	floorScan  = "floor: fetch + gunzip + scan"
	floorLoad  = "floor: LOAD DATA"
	floorIdle  = "floor: sitemapd version"
)

var steps = []string{stepFirst, step304, stepIdentical, stepReparsed, stepChanged, stepCompared}

type place struct {
	database string // mariadb, sqlite; "" for what needs none
	gzip     bool
	step     string
}

type bench struct {
	program   string
	folder    string
	server    *server
	posts     int
	perFile   int
	documents int
	costs     map[place][]cost
	rows      map[place][]written // what the steps wrote, MariaDB alone
}

func benchSync(ctx context.Context, flags *flag.FlagSet, arguments []string) error {
	b := &bench{server: &server{}, costs: map[place][]cost{}, rows: map[place][]written{}}
	rounds := flags.Int("rounds", 3, "rounds; figures are medians")
	flags.IntVar(&b.posts, "urls", 1_000_000, "URLs")
	flags.IntVar(&b.perFile, "per-file", 2000, "URLs a file")
	flags.StringVar(&b.program, "program", "", "the sitemapd to measure")
	flags.StringVar(&b.folder, "folder", "", "for SQLite's file")
	flags.StringVar(&b.server.socket, "socket", "", "MariaDB's socket; without it SQLite alone is measured")
	flags.StringVar(&b.server.base, "mysql", "", "mysql://USER:PASSWORD@HOST:PORT/")
	flags.StringVar(&b.server.folder, "server-folder", "", "where MariaDB may write a file")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	for _, gzip := range []bool{true, false} {
		// One origin at a time: its memory and its rendering must not weigh on the other's rounds.
		o, err := serve(ctx, b.posts, b.perFile, gzip)
		if err != nil {
			return err
		}
		b.documents = o.documents
		for round := range *rounds {
			fmt.Fprintf(os.Stderr, "gzip %v, round %d of %d\n", gzip, round+1, *rounds)
			if err := b.round(ctx, o, gzip); err != nil {
				o.stop()
				return err
			}
		}
		o.stop()
	}
	b.report(os.Stdout)
	return nil
}

func (b *bench) round(ctx context.Context, o *served, gzip bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for step, arguments := range map[string][]string{floorFetch: nil, floorScan: {"-scan"}} {
		c, _, err := measure(ctx, self, append([]string{"floor", "-index", o.index}, arguments...)...)
		if err != nil {
			return err
		}
		b.add(place{"", gzip, step}, c)
	}
	c, _, err := measure(ctx, b.program, "version")
	if err != nil {
		return err
	}
	b.add(place{"", gzip, floorIdle}, c)
	if b.server.socket != "" {
		m, err := b.server.create(ctx, "bench")
		if err != nil {
			return err
		}
		if err := b.scenario(ctx, o, "mariadb", m, gzip); err != nil {
			return err
		}
	}
	return b.scenario(ctx, o, "sqlite", newSQLite(b.folder), gzip)
}

func (b *bench) add(p place, c cost) {
	b.costs[p] = append(b.costs[p], c)
	fmt.Fprintf(os.Stderr, "  %-8s %-28s %7.2f s wall %7.2f s CPU %6.1f MB\n", p.database, p.step, c.wall.Seconds(), c.cpu.Seconds(), c.rss)
}

// scenario takes one empty database through all steps.
func (b *bench) scenario(ctx context.Context, o *served, name string, d database, gzip bool) error {
	if err := d.drop(ctx); err != nil && name == "sqlite" {
		return err
	}
	if m, ok := d.(*mariadb); ok {
		if _, err := m.create(ctx, m.name); err != nil {
			return err
		}
	}
	before := map[string]string{stepFirst: "conditional?on=1", stepIdentical: "conditional?on=0", stepReparsed: "reorder", stepChanged: "edit?each=100", stepCompared: "reorder"}
	run := []string{"sync", o.index, "--database", d.dsn(), "--allow-private", "127.0.0.0/8", "-o", "json"}
	for _, step := range steps {
		if step == stepCompared && name == "sqlite" {
			if _, err := exec.LookPath("sqlite3"); err != nil {
				fmt.Fprintln(os.Stderr, "  sqlite   left out:", step+": its shell, sqlite3, is not installed")
				continue
			}
		}
		if action := before[step]; action != "" {
			if err := o.tell(action); err != nil {
				return err
			}
		}
		if step == stepIdentical { // forgetting the validators that the origin no longer sends is not what is measured
			if _, _, err := measure(ctx, b.program, run...); err != nil {
				return err
			}
		}
		if step == stepCompared { // last, for it leaves no sums
			if err := d.blind(ctx); err != nil {
				return err
			}
		}
		rows, err := d.rows(ctx)
		if err != nil {
			return err
		}
		c, out, err := measure(ctx, b.program, run...)
		if err != nil {
			return err
		}
		if err := b.check(step, out); err != nil {
			return fmt.Errorf("%s, %s: %w", name, step, err)
		}
		after, err := d.rows(ctx)
		if err != nil {
			return err
		}
		p := place{name, gzip, step}
		b.add(p, c)
		b.rows[p] = append(b.rows[p], written{after.declarations - rows.declarations, after.all - rows.all})
		if m, ok := d.(*mariadb); ok && step == stepFirst {
			c, err := m.load(ctx)
			if err != nil {
				return err
			}
			b.add(place{name, gzip, floorLoad}, c)
		}
	}
	return d.drop(ctx)
}

// check makes sure that a step did what it is named after: a fast wrong answer is no figure.
func (b *bench) check(step string, out []byte) error {
	var run struct {
		Verdict   string
		Documents struct{ Read, Unchanged, Failed int }
		Counts    struct{ Live, Added, Changed, Removed, Unchanged int }
	}
	if err := json.Unmarshal(out, &run); err != nil {
		return fmt.Errorf("read %.200s: %w", out, err)
	}
	c, live := run.Counts, b.posts+1 // and the home page
	ok := run.Verdict == "complete" && c.Live == live && c.Removed == 0
	switch step {
	case stepFirst:
		ok = ok && c.Added == live && run.Documents.Read == b.documents
	case stepChanged:
		ok = ok && c.Changed >= b.posts/100 && c.Changed <= b.posts/100+1 && c.Added == 0
	case stepCompared:
		ok = ok && c.Unchanged == live && run.Documents.Read >= b.documents-2 // the index and the file of the home page have nothing that could be in another order
	default:
		ok = ok && c.Unchanged == live && run.Documents.Unchanged == b.documents
	}
	if !ok {
		return fmt.Errorf("not what was to be measured: %+v", run)
	}
	return nil
}

// median of what pick gives for each round.
func median(n int, pick func(round int) float64) float64 {
	values := make([]float64, n)
	for i := range n {
		values[i] = pick(i)
	}
	slices.Sort(values)
	if n == 0 {
		return 0
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}

func (b *bench) wall(p place) float64 {
	c := b.costs[p]
	return median(len(c), func(i int) float64 { return c[i].wall.Seconds() })
}

// ratio is the median of the rounds' ratios: rounds differ more than what is measured in one.
func (b *bench) ratio(p, floor place) float64 {
	c, f := b.costs[p], b.costs[floor]
	return median(min(len(c), len(f)), func(i int) float64 { return float64(c[i].wall) / float64(max(f[i].wall, time.Microsecond)) })
}

func (b *bench) cpuRatio(p, floor place) float64 {
	c, f := b.costs[p], b.costs[floor]
	return median(min(len(c), len(f)), func(i int) float64 { return float64(c[i].cpu) / float64(max(f[i].cpu, time.Microsecond)) })
}
