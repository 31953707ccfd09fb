package handlers

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

// Bounds of what one report reads, whatever the size of the site.
const (
	reportRuns  = 20000            // newest runs looked at
	trustsShown = 50               // documents
	countsKept  = 15 * time.Minute // also when newer runs have ended: counting reads every row
	pointsKept  = 20 * time.Second
	trendKept   = 10 * time.Minute // while no newer run has ended: the overview shows one for each site
	typesKept   = time.Hour        // while no newer run has ended
	groupsKept  = time.Minute      // of findings, while no newer run has ended
)

// reportCache keeps what is dear to compute, by site.
type reportCache struct {
	groups kept[[]models.FindingGroup]
	unread kept[*web.Unread]
	points kept[[]models.RunPoint]
	trends kept[[]models.RunPoint]
	// verified are counts of pages by what is known of their canonical URL.
	verified  counting[models.Verification]
	faults    counting[[]models.AuditGroup]
	languages counting[[]models.LanguageCount]
	declares  counting[models.ExtensionCounts]
	sections  counting[models.SectionCounts]
	entries   keptEntries
	ages      counting[lastmods]
	types     kept[[]string] // of content, as documents list them
}

// kept holds one answer of each site for as long as the run is the same and it is young enough.
type kept[T any] struct {
	mu  sync.Mutex
	all map[int64]keptAnswer[T]
}

type keptAnswer[T any] struct {
	run   int64
	at    time.Time
	value T
}

func (k *kept[T]) get(ctx context.Context, site, run int64, now time.Time, young time.Duration, read func(context.Context) (T, error)) (T, error) {
	k.mu.Lock()
	old, there := k.all[site]
	k.mu.Unlock()
	if there && old.run == run && now.Sub(old.at) < young {
		return old.value, nil
	}
	value, err := read(ctx)
	if err != nil {
		return value, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil || len(k.all) > 10000 {
		k.all = map[int64]keptAnswer[T]{}
	}
	k.all[site] = keptAnswer[T]{run, now, value}
	return value, nil
}

var periods = []int{7, 30, 90, 365}

func (s *Server) reportsPage(c echo.Context) error {
	ctx := c.Request().Context()
	in, err := s.siteHere(c, "reports")
	if err != nil {
		return err
	}
	page := web.Reports{InSite: in, Period: 30, Zone: "UTC"}
	if n, err := strconv.Atoi(c.QueryParam("days")); err == nil && slices.Contains(periods, n) {
		page.Period = n
	}
	for _, n := range periods {
		page.Periods = append(page.Periods, web.Choice{Name: strconv.Itoa(n) + " days", Address: withParam(c, "days", strconv.Itoa(n)), Chosen: n == page.Period})
	}
	zone := time.UTC
	if in.Site.TimeZone != "" {
		if z, err := time.LoadLocation(in.Site.TimeZone); err == nil {
			zone, page.Zone = z, in.Site.TimeZone
		}
	}
	if err := s.reportRuns(ctx, &page, zone); err != nil {
		return err
	}
	waiting, done := context.WithTimeout(ctx, countingWait) // for all that is counted together
	defer done()
	s.reportAges(waiting, &page)
	s.reportExtensions(waiting, &page)
	if err := s.reportLatency(ctx, &page); err != nil {
		return err
	}
	documents, err := s.documents(ctx, in.Site, models.AsOf{Run: in.Site.CurrentRun}, func(d *models.Document) bool { return d.LastmodTrust > 0 })
	if err != nil {
		return err
	}
	page.Judged = len(documents)
	slices.SortStableFunc(documents, func(a, b models.Document) int {
		return cmp.Or(cmp.Compare(a.LastmodTrust, b.LastmodTrust), cmp.Compare(b.Entries, a.Entries))
	})
	page.Trusts = documents[:min(len(documents), trustsShown)]
	return s.show(c, http.StatusOK, "reports", "Reports", page)
}

// reportRuns draws what runs counted, by day and by hour.
func (s *Server) reportRuns(ctx context.Context, page *web.Reports, zone *time.Location) error {
	if s.deps.Reports == nil {
		return nil
	}
	now := s.deps.Now()
	points, err := s.reports.points.get(ctx, page.Site.ID, 0, now, pointsKept, func(ctx context.Context) ([]models.RunPoint, error) {
		return s.deps.Reports.RunPoints(ctx, page.Site.ID, reportRuns)
	})
	if err != nil {
		return err
	}
	since := now.In(zone).AddDate(0, 0, 1-page.Period)
	drawRuns(page, points, since, zone)
	drawCalendar(page, points, since, now.In(zone))
	return nil
}

// drawCalendar puts what runs (newest first) saw published into weeks from Monday to Sunday, by the days of the zone of now.
func drawCalendar(page *web.Reports, points []models.RunPoint, since, now time.Time) {
	counts := map[string]int64{}
	highest := int64(0)
	first := since.Format(time.DateOnly)
	for _, r := range points {
		if day := r.At.In(now.Location()).Format(time.DateOnly); day >= first && !r.Baseline {
			counts[day] += r.Added + r.Changed
			highest = max(highest, counts[day])
		}
	}
	if highest == 0 {
		return
	}
	page.Calendar = make([][]web.HeatCell, 7)
	monday := since.AddDate(0, 0, -(int(since.Weekday())+6)%7)
	for last := now.Format(time.DateOnly); monday.Format(time.DateOnly) <= last; monday = monday.AddDate(0, 0, 7) {
		page.Weeks = append(page.Weeks, monday.Format(time.DateOnly))
		for weekday := range page.Calendar {
			cell := web.HeatCell{Day: monday.AddDate(0, 0, weekday).Format(time.DateOnly)}
			if cell.Count = counts[cell.Day]; cell.Count > 0 {
				cell.Level = int(min(5, 1+4*cell.Count/highest))
			}
			page.Calendar[weekday] = append(page.Calendar[weekday], cell)
		}
	}
}

// reportExtensions shows how many pages declare images, videos, news and language versions.
func (s *Server) reportExtensions(ctx context.Context, page *web.Reports) {
	if s.deps.Reports == nil || page.Site.CurrentRun == 0 {
		return
	}
	counts, _, counting := s.reports.declares.of(ctx, s, page.Site.ID, countsKept, func(ctx context.Context) (models.ExtensionCounts, error) {
		return s.deps.Reports.ExtensionCounts(ctx, page.Site.ID)
	})
	if counts == nil {
		page.Counting = page.Counting || counting
		return
	}
	for _, x := range []struct {
		name string
		n    int64
	}{{"image", counts.Images}, {"video", counts.Videos}, {"news", counts.News}, {"alternates", counts.Alternates}} {
		page.Has = append(page.Has, web.Age{Name: x.name, Count: x.n, Whole: page.Site.Live, Address: inventory(page.Site, "extension", x.name)})
	}
}

// drawRuns puts runs (newest first) since a day into the report.
func drawRuns(page *web.Reports, points []models.RunPoint, since time.Time, zone *time.Location) {
	since = time.Date(since.Year(), since.Month(), since.Day(), 0, 0, 0, 0, zone)
	var day time.Time
	came := false
	highest := int64(0)
	for _, r := range slices.Backward(points) {
		at := r.At.In(zone)
		if at.Before(since) {
			continue
		}
		if label := at.Format(time.DateOnly); len(page.Growth) == 0 {
			page.Growth, page.Days = []web.Point{{Label: label}}, []web.UpDown{{Label: label}}
			day = at
		} else {
			for page.Growth[len(page.Growth)-1].Label < label { // also days without a run
				day = day.AddDate(0, 0, 1)
				next := day.Format(time.DateOnly)
				page.Growth = append(page.Growth, web.Point{Label: next, Value: page.Growth[len(page.Growth)-1].Value})
				page.Days = append(page.Days, web.UpDown{Label: next})
			}
		}
		last := len(page.Growth) - 1
		page.Growth[last].Value = r.Live
		if r.Baseline {
			continue
		}
		page.Days[last].Added += r.Added + r.Restored
		page.Days[last].Removed += r.Removed
		came = came || r.Added+r.Restored+r.Removed > 0
		cell := &page.Heat[(int(at.Weekday())+6)%7][at.Hour()]
		cell.Count += r.Added + r.Changed
		page.HeatTotal += r.Added + r.Changed
		highest = max(highest, cell.Count)
	}
	if len(page.Growth) < 2 { // one day: show its runs instead
		page.Growth = nil
		for _, r := range slices.Backward(points[:min(len(points), trendRuns)]) {
			page.Growth = append(page.Growth, web.Point{Label: r.At.In(zone).Format("2006-01-02 15:04"), Value: r.Live})
		}
	}
	if !came {
		page.Days = nil
	}
	for d := range page.Heat {
		for h := range page.Heat[d] {
			if cell := &page.Heat[d][h]; cell.Count > 0 {
				cell.Level = int(min(5, 1+4*cell.Count/highest))
			}
		}
	}
}

// reportLatency tells how long announced changes took to be seen.
func (s *Server) reportLatency(ctx context.Context, page *web.Reports) error {
	if s.deps.Expectations == nil {
		return nil
	}
	all, err := s.deps.Expectations.ExpectationHistory(ctx, page.Site.ID, 0, expectationsRead)
	if err != nil {
		return err
	}
	var lags []time.Duration
	l := &page.Latency
	for i := range all {
		switch all[i].Outcome {
		case models.OutcomeMet:
			l.Met++
			lags = append(lags, all[i].Lag())
		case models.OutcomeOpen:
			l.Open++
		case models.OutcomeExpired:
			l.Expired++
		}
	}
	l.Median, l.P95, l.Worst = "–", "–", "–"
	if len(lags) > 0 {
		slices.Sort(lags)
		l.Steps = histogram(lags)
		l.Median, l.P95, l.Worst = rounded(lags[len(lags)/2]), rounded(lags[(len(lags)-1)*95/100]), rounded(lags[len(lags)-1])
	}
	return nil
}

// lagSteps divide publish latency where people feel a difference; the rechecks after a delivery lie between them.
var lagSteps = []struct {
	name  string
	below time.Duration
}{{"up to 5 seconds", 5 * time.Second}, {"up to 15 seconds", 15 * time.Second}, {"up to 30 seconds", 30 * time.Second}, {"up to 1 minute", time.Minute},
	{"up to 2 minutes", 2 * time.Minute}, {"up to 5 minutes", 5 * time.Minute}, {"up to 30 minutes", 30 * time.Minute}, {"up to 2 hours", 2 * time.Hour}, {"longer", 1<<63 - 1}}

// histogram counts lags (ascending) by step, without the empty steps at either end.
func histogram(lags []time.Duration) []web.Age {
	steps := make([]web.Age, len(lagSteps))
	first, last := len(steps), 0
	for i, step := range lagSteps {
		steps[i] = web.Age{Name: step.name, Whole: int64(len(lags))}
	}
	at := 0
	for _, lag := range lags {
		for lag > lagSteps[at].below {
			at++
		}
		steps[at].Count++
		first, last = min(first, at), max(last, at)
	}
	return steps[first : last+1]
}

func rounded(d time.Duration) string {
	if d < time.Minute {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
