package web

import (
	"fmt"
	"html/template"
	"strings"
)

// Charts are drawn by the server from numbers alone: they need no script, and a table with the same numbers stands
// beside each of them.

// Point is one moment of a line.
type Point struct {
	Label string // for people, such as a day
	Value int64
}

// Spark draws a small line without axes.
func Spark(points []Point) template.HTML {
	if len(points) < 2 {
		return "–"
	}
	const width, height = 120, 28
	low, high := span(points)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="spark" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s"><polyline points="`, width, height, width, height,
		template.HTMLEscapeString(Text("From %s to %s pages", Human(points[0].Value), Human(points[len(points)-1].Value))))
	for i, p := range points {
		fmt.Fprintf(&b, "%.1f,%.1f ", 2+float64(i)*(width-4)/float64(len(points)-1), place(p.Value, low, high, height-3, 3))
	}
	b.WriteString(`"/></svg>`)
	return template.HTML(b.String())
}

const (
	chartWidth, chartHeight       = 720, 200
	chartLeft, chartTop, chartLow = 64, 16, 172
)

// Line draws a value over time with its scale.
func Line(name string, points []Point) template.HTML {
	if len(points) < 2 {
		return ""
	}
	low, high := span(points)
	var b strings.Builder
	open(&b, name)
	scale(&b, low, high)
	step := float64(chartWidth-chartLeft-8) / float64(len(points)-1)
	var line strings.Builder
	for i, p := range points {
		fmt.Fprintf(&line, "%.1f,%.1f ", chartLeft+float64(i)*step, place(p.Value, low, high, chartLow, chartTop))
	}
	last := chartLeft + float64(len(points)-1)*step
	fmt.Fprintf(&b, `<polygon class="area" points="%d,%d %s%.1f,%d"/><polyline class="line" points="%s"/>`, chartLeft, chartLow, line.String(), last, chartLow, line.String())
	for i, p := range points {
		fmt.Fprintf(&b, `<circle class="dot" cx="%.1f" cy="%.1f" r="4"><title>%s: %s</title></circle>`, chartLeft+float64(i)*step,
			place(p.Value, low, high, chartLow, chartTop), template.HTMLEscapeString(p.Label), Human(p.Value))
	}
	ends(&b, points[0].Label, points[len(points)-1].Label)
	return template.HTML(b.String())
}

// UpDown is what came and went in one period.
type UpDown struct {
	Label          string
	Added, Removed int64
}

// Bars draws what came above a line and what went below it.
func Bars(name string, days []UpDown) template.HTML {
	if len(days) == 0 {
		return ""
	}
	high := int64(1)
	for _, d := range days {
		high = max(high, d.Added, d.Removed)
	}
	var b strings.Builder
	open(&b, name)
	middle := (chartLow + chartTop) / 2
	half := float64(chartLow-chartTop) / 2
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">+%s</text><text x="%d" y="%d" text-anchor="end">0</text><text x="%d" y="%d" text-anchor="end">-%s</text>`,
		chartLeft-6, chartTop+8, Human(high), chartLeft-6, middle+4, chartLeft-6, chartLow, Human(high))
	fmt.Fprintf(&b, `<line class="grid" x1="%d" y1="%d" x2="%d" y2="%d"/>`, chartLeft, middle, chartWidth-8, middle)
	step := float64(chartWidth-chartLeft-8) / float64(len(days))
	width := min(max(step*0.8, 1), 24)
	for i, d := range days {
		x := chartLeft + float64(i)*step + (step-width)/2
		up, down := float64(d.Added)/float64(high)*half, float64(d.Removed)/float64(high)*half
		label := template.HTMLEscapeString(d.Label)
		if d.Added > 0 {
			fmt.Fprintf(&b, `<rect class="up" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s: +%s</title></rect>`, x, float64(middle)-max(up, 1), width, max(up, 1), label, Human(d.Added))
		}
		if d.Removed > 0 {
			fmt.Fprintf(&b, `<rect class="down" x="%.1f" y="%d" width="%.1f" height="%.1f"><title>%s: -%s</title></rect>`, x, middle, width, max(down, 1), label, Human(d.Removed))
		}
	}
	ends(&b, days[0].Label, days[len(days)-1].Label)
	return template.HTML(b.String())
}

// Meter draws a share of a whole as a bar.
func Meter(value, whole int64) template.HTML {
	width := 0.0
	if whole > 0 {
		width = 200 * float64(value) / float64(whole)
	}
	if value > 0 {
		width = max(width, 1.5)
	}
	return template.HTML(fmt.Sprintf(`<svg class="meter" viewBox="0 0 200 12" width="200" height="12" aria-hidden="true"><rect class="rail" width="200" height="12" rx="3"/><rect class="up" width="%.1f" height="12" rx="3"/></svg>`, width))
}

func open(b *strings.Builder, name string) {
	fmt.Fprintf(b, `<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartWidth, chartHeight, template.HTMLEscapeString(name))
}

func scale(b *strings.Builder, low, high int64) {
	values := []int64{low, low + (high-low)/2, high}
	if high-low < 2 {
		values = []int64{low, high}
	}
	for _, v := range values {
		y := place(v, low, high, chartLow, chartTop)
		fmt.Fprintf(b, `<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`, chartLeft, y, chartWidth-8, y, chartLeft-6, y+4, Human(v))
	}
}

func ends(b *strings.Builder, first, last string) {
	fmt.Fprintf(b, `<text x="%d" y="%d">%s</text><text x="%d" y="%d" text-anchor="end">%s</text></svg>`, chartLeft, chartHeight-8,
		template.HTMLEscapeString(first), chartWidth-8, chartHeight-8, template.HTMLEscapeString(last))
}

func span(points []Point) (low, high int64) {
	low, high = points[0].Value, points[0].Value
	for _, p := range points {
		low, high = min(low, p.Value), max(high, p.Value)
	}
	if low == high {
		high++
	}
	return low, high
}

func place(value, low, high int64, bottom, top float64) float64 {
	return bottom - (bottom-top)*float64(value-low)/float64(high-low)
}
