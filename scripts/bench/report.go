package main

import (
	"fmt"
	"io"
)

// target is one line of the verdict.
type target struct {
	name, what string
	figure     float64
	unit       string
	floor      float64 // of the same unit, 0 for none
	ratio      float64
	cpu        float64 // the ratio by processor time, which other work on the machine hardly moves; 0 where it says nothing
	limit      float64 // of the ratio, or of the figure where there is no floor
}

func (t target) met() bool {
	if t.floor > 0 {
		return t.ratio <= t.limit
	}
	return t.figure <= t.limit
}

func (b *bench) report(w io.Writer) {
	fmt.Fprintf(w, "%d URLs in %d documents\n\n", b.posts+1, b.documents)
	fmt.Fprintf(w, "| database | gzip | step | wall s | (min-max) | CPU s | peak RSS MB | rows written: declarations / all |\n|---|---|---|---|---|---|---|---|\n")
	for _, gzip := range []bool{true, false} {
		for _, step := range []string{floorFetch, floorScan, floorIdle} {
			b.line(w, place{"", gzip, step})
		}
		for _, database := range []string{"mariadb", "sqlite"} {
			for _, step := range append(steps, floorLoad) {
				b.line(w, place{database, gzip, step})
			}
		}
	}
	fmt.Fprintf(w, "\n| target | what | figure | floor | ratio | by CPU | limit | |\n|---|---|---|---|---|---|---|---|\n")
	missed := 0
	for _, t := range b.targets() {
		verdict := "ok"
		if !t.met() {
			verdict = "**miss**"
			missed++
		}
		floor, ratio, cpu, limit := "", "", "", fmt.Sprintf("%g %s", t.limit, t.unit)
		if t.floor > 0 {
			floor, ratio, limit = fmt.Sprintf("%.2f %s", t.floor, t.unit), fmt.Sprintf("%.2fx", t.ratio), fmt.Sprintf("%gx", t.limit)
		}
		if t.cpu > 0 {
			cpu = fmt.Sprintf("%.2fx", t.cpu)
		}
		fmt.Fprintf(w, "| %s | %s | %.2f %s | %s | %s | %s | %s | %s |\n", t.name, t.what, t.figure, t.unit, floor, ratio, cpu, limit, verdict)
	}
	fmt.Fprintf(w, "\n%d targets missed\n", missed)
}

func (b *bench) line(w io.Writer, p place) {
	c := b.costs[p]
	if len(c) == 0 {
		return
	}
	low, high, peak := c[0].wall, c[0].wall, 0.0
	for _, x := range c {
		low, high, peak = min(low, x.wall), max(high, x.wall), max(peak, x.rss)
	}
	rows := ""
	if r := b.rows[p]; len(r) > 0 && p.database == "mariadb" {
		rows = fmt.Sprintf("%d / %d", r[len(r)-1].declarations, r[len(r)-1].all)
	}
	fmt.Fprintf(w, "| %s | %s | %s | %.2f | %.2f-%.2f | %.2f | %.1f | %s |\n", p.database, onOff(p.gzip), p.step, b.wall(p),
		low.Seconds(), high.Seconds(), median(len(c), func(i int) float64 { return c[i].cpu.Seconds() }), peak, rows)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// targets are those of the main job; the names are explained in docs/benchmarks.md.
func (b *bench) targets() []target {
	var out []target
	for _, gzip := range []bool{true, false} {
		at := func(database, step string) place { return place{database, gzip, step} }
		against := func(name, what string, p, floor place, limit float64) {
			if len(b.costs[p]) > 0 && len(b.costs[floor]) > 0 {
				t := target{name: name, what: what + ", gzip " + onOff(gzip), figure: b.wall(p), unit: "s", floor: b.wall(floor), ratio: b.ratio(p, floor), limit: limit}
				if floor.step != floorLoad && name != "S2" { // there the database server does the work
					t.cpu = b.cpuRatio(p, floor)
				}
				out = append(out, t)
			}
		}
		against("S1", "first run, MariaDB : LOAD DATA", at("mariadb", stepFirst), at("mariadb", floorLoad), 2)
		against("S2", "first run, SQLite : MariaDB", at("sqlite", stepFirst), at("mariadb", stepFirst), 2)
		for _, database := range []string{"mariadb", "sqlite"} {
			if len(b.costs[at(database, stepFirst)]) == 0 {
				continue
			}
			against("R1", "no change, "+database+" : fetch+gunzip+scan", at(database, stepReparsed), at("", floorScan), 4)
			if database == "mariadb" {
				out = append(out, b.silent(at(database, stepReparsed)))
			}
			against("R3", "identical bytes, "+database+" : no change", at(database, stepIdentical), at(database, stepReparsed), 0.25)
			against("R4", "1 % changed, "+database+" : no change", at(database, stepChanged), at(database, stepReparsed), 1.5)
			against("R4", "1 % changed, "+database+" : no change, every row compared", at(database, stepChanged), at(database, stepCompared), 1.5)
			against("R4", "1 % changed, "+database+" : LOAD DATA", at(database, stepChanged), at("mariadb", floorLoad), 0.25)
			all304 := at(database, step304)
			out = append(out,
				target{name: "R5", what: "all 304, " + database + ", a document, gzip " + onOff(gzip), figure: b.wall(all304) * 1000 / float64(b.documents), unit: "ms", limit: 1},
				target{name: "R5", what: fmt.Sprintf("all 304, %s, peak RSS (doing nothing takes %.1f MB), gzip ", database, b.peak(at("", floorIdle))) + onOff(gzip), figure: b.peak(all304), unit: "MB", limit: 24})
			peak := 0.0
			for _, step := range steps {
				peak = max(peak, b.peak(at(database, step)))
			}
			out = append(out, target{name: "M1", what: "peak RSS of every step, " + database + ", gzip " + onOff(gzip), figure: peak, unit: "MB", limit: 128})
		}
	}
	return out
}

// silent is R2: a run without changes writes no declaration.
func (b *bench) silent(p place) target {
	most := int64(0)
	for _, r := range b.rows[p] {
		most = max(most, r.declarations)
	}
	return target{name: "R2", what: "rows of declarations written without changes, gzip " + onOff(p.gzip), figure: float64(most), unit: "rows", limit: 0}
}

func (b *bench) peak(p place) float64 {
	peak := 0.0
	for _, c := range b.costs[p] {
		peak = max(peak, c.rss)
	}
	return peak
}
