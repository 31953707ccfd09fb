package canonical_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

const source = "https://example.com/p/"

// answer makes a response of the source: a status, and the canonical that its head declares ("" none).
func answer(status int, declares string, more ...func(*canonical.Response)) canonical.Response {
	body := "<html><head><title>t</title>"
	if declares != "" {
		body += `<link rel="canonical" href="` + declares + `">`
	}
	r := canonical.Response{URL: source, Status: status, Header: map[string][]string{"Content-Type": {"text/html"}}, Body: []byte(body + "</head><body>x</body></html>")}
	for _, f := range more {
		f(&r)
	}
	return r
}

func failed(f canonical.Failure) canonical.Response {
	return canonical.Response{URL: source, Failure: f}
}

func withHeader(name, value string) func(*canonical.Response) {
	return func(r *canonical.Response) { r.Header[name] = append(r.Header[name], value) }
}

func redirected(status int, to string) canonical.Response {
	r := answer(200, to)
	r.Hops = []canonical.Hop{{URL: source, Status: status, Header: map[string][]string{"Location": {to}}}}
	r.FinalURL = to
	return r
}

// observe extracts, judges and puts on record.
func observe(rec canonical.Record, r canonical.Response, at time.Duration) canonical.Step {
	now := epoch.Add(at)
	r.Fetched = now
	ev := canonical.Extract(r)
	v := canonical.Judge(canonical.Input{Evidence: ev, At: now, Flapping: rec.Flapping(now)})
	return canonical.Advance(rec, canonical.Observed{Evidence: ev, Verdict: v, At: now, Generation: r.Generation()})
}

// TestAdvance_KnowsWhenNotToSupersede has one row a promise: a self-canonical
// page is on record, then one answer comes.
func TestAdvance_KnowsWhenNotToSupersede(t *testing.T) {
	t.Parallel()
	truncated := func(r *canonical.Response) { r.Body, r.Truncated = []byte("<html><head><title>t"), true }
	binary := func(r *canonical.Response) { r.Body = []byte("\x28\xb5\x2f\xfd....") }
	plain := func(r *canonical.Response) { r.Header["Content-Type"] = []string{"text/plain"} }
	for _, c := range []struct {
		name   string
		r      canonical.Response
		action canonical.Action
		reason canonical.Reason
	}{
		{"the same again", answer(200, source), canonical.ActionConfirm, ""},
		{"the same in another spelling", answer(200, "HTTPS://EXAMPLE.com:443/p/#top"), canonical.ActionConfirm, ""},
		{"not modified", answer(304, ""), canonical.ActionConfirm, ""},
		{"timeout", failed(canonical.FailureTimeout), canonical.ActionKeep, canonical.ReasonSourceUnreachable},
		{"name not resolved", failed(canonical.FailureDNS), canonical.ActionKeep, canonical.ReasonSourceUnreachable},
		{"broken certificate", failed(canonical.FailureTLS), canonical.ActionKeep, canonical.ReasonSourceUnreachable},
		{"connection reset", failed(canonical.FailureReset), canonical.ActionKeep, canonical.ReasonSourceUnreachable},
		{"robots.txt forbids", failed(canonical.FailureRobots), canonical.ActionKeep, canonical.ReasonBlocked},
		{"500", answer(500, ""), canonical.ActionKeep, canonical.ReasonSourceUnreachable},
		{"429", answer(429, ""), canonical.ActionKeep, canonical.ReasonSourceUnreachable},
		{"408", answer(408, ""), canonical.ActionKeep, canonical.ReasonSourceUnreachable},
		{"500 with another canonical", answer(500, "https://example.com/"), canonical.ActionKeep, canonical.ReasonSourceUnreachable},
		{"maintenance", answer(503, "", withHeader("Retry-After", "600")), canonical.ActionKeep, canonical.ReasonMaintenance},
		{"401", answer(401, ""), canonical.ActionKeep, canonical.ReasonFetchBlocked},
		{"403", answer(403, ""), canonical.ActionKeep, canonical.ReasonFetchBlocked},
		{"bot wall at 200", answer(200, "https://example.com/wall", withHeader("Cf-Mitigated", "challenge")), canonical.ActionKeep, canonical.ReasonFetchBlocked},
		{"cut before the head ended", answer(200, "", truncated), canonical.ActionKeep, canonical.ReasonTruncated},
		{"unknown coding", answer(200, "", binary), canonical.ActionKeep, canonical.ReasonUndecodable},
		{"another content type", answer(200, "", plain), canonical.ActionKeep, canonical.ReasonNonHTML},
		{"temporary redirect", redirected(302, "https://example.com/q/"), canonical.ActionKeep, canonical.ReasonTemporary},
		{"404 once", answer(404, ""), canonical.ActionHold, canonical.ReasonGoneOnce},
		{"404 with a canonical", answer(404, "https://example.com/"), canonical.ActionHold, canonical.ReasonGoneOnce},
		{"absent once", answer(200, ""), canonical.ActionHold, canonical.ReasonAbsentOnce},
		{"permanent redirect elsewhere, once", redirected(301, "https://example.com/q/"), canonical.ActionHold, canonical.ReasonRedirected},
	} {
		rec := observe(canonical.Record{}, answer(200, source), 0).Next
		s := observe(rec, c.r, 24*time.Hour)
		if s.Action != c.action || s.Reason != c.reason {
			t.Errorf("%s: %s %s, want %s %s", c.name, s.Action, s.Reason, c.action, c.reason)
		}
		if len(s.Closed) != 0 || len(s.Next.Current) != 1 || s.Next.Current[0].Target != source {
			t.Errorf("%s: %d closed, current %v", c.name, len(s.Closed), s.Next.Current)
		}
		if c.action != canonical.ActionConfirm && c.reason != canonical.ReasonRedirected && s.Next.Current[0].Score != 0.98 {
			t.Errorf("%s: score fell to %.2f", c.name, s.Next.Current[0].Score)
		}
	}
}

// step is one answer of a sequence and what it is to come to.
type step struct {
	at     time.Duration
	r      canonical.Response
	action canonical.Action
	closed int
}

func TestAdvance_TakesSecondLooks(t *testing.T) {
	t.Parallel()
	const h = time.Hour
	other, third := "https://example.com/q/", "https://example.com/r/"
	for _, c := range []struct {
		name  string
		steps []step
		end   canonical.Status // of the last one closed
	}{
		{"another value supersedes at once", []step{{0, answer(200, source), canonical.ActionOpen, 0}, {h, answer(200, other), canonical.ActionSupersede, 1}}, canonical.StatusSuperseded},
		{"absence needs an hour between the looks", []step{{0, answer(200, source), canonical.ActionOpen, 0}, {h, answer(200, ""), canonical.ActionHold, 0},
			{h + h/2, answer(200, ""), canonical.ActionHold, 0}, {2 * h, answer(200, ""), canonical.ActionRemove, 1}}, canonical.StatusSuperseded},
		{"a failure between two absences does not reset them", []step{{0, answer(200, source), canonical.ActionOpen, 0}, {h, answer(200, ""), canonical.ActionHold, 0},
			{2 * h, answer(500, ""), canonical.ActionKeep, 0}, {3 * h, answer(200, ""), canonical.ActionRemove, 1}}, canonical.StatusSuperseded},
		{"304 after an absence is the second look", []step{{0, answer(200, source), canonical.ActionOpen, 0}, {h, answer(200, ""), canonical.ActionHold, 0},
			{3 * h, answer(304, ""), canonical.ActionRemove, 1}}, canonical.StatusSuperseded},
		{"404 of what was never declared", []step{{0, answer(200, ""), canonical.ActionNone, 0}, {h, answer(404, ""), canonical.ActionNone, 0},
			{48 * h, answer(404, ""), canonical.ActionNone, 0}}, ""},
		{"presence between two absences does", []step{{0, answer(200, source), canonical.ActionOpen, 0}, {h, answer(200, ""), canonical.ActionHold, 0},
			{2 * h, answer(200, source), canonical.ActionConfirm, 0}, {3 * h, answer(200, ""), canonical.ActionHold, 0}}, ""},
		{"404 needs a day", []step{{0, answer(200, source), canonical.ActionOpen, 0}, {h, answer(404, ""), canonical.ActionHold, 0},
			{2 * h, answer(410, ""), canonical.ActionHold, 0}, {26 * h, answer(404, ""), canonical.ActionRemove, 1}}, canonical.StatusStale},
		{"a redirect elsewhere is a conflict until a second look", []step{{0, answer(200, source), canonical.ActionOpen, 0}, {h, redirected(301, other), canonical.ActionHold, 0},
			{3 * h, redirected(301, other), canonical.ActionRemove, 1}}, canonical.StatusSuperseded},
		{"a redirect to what was declared confirms it", []step{{0, answer(200, other), canonical.ActionOpen, 0}, {h, redirected(301, other), canonical.ActionConfirm, 0},
			{9 * h, redirected(301, other), canonical.ActionConfirm, 0}}, ""},
		{"conflict opens, stays and closes", []step{{0, answer(200, source), canonical.ActionOpen, 0},
			{h, answer(200, source, withHeader("Link", "<"+third+">; rel=canonical")), canonical.ActionConflict, 0},
			{2 * h, answer(200, source, withHeader("Link", "<"+third+">; rel=canonical")), canonical.ActionConfirm, 0},
			{3 * h, answer(200, source), canonical.ActionSupersede, 1}}, canonical.StatusSuperseded},
		{"nothing, and still nothing", []step{{0, answer(200, ""), canonical.ActionNone, 0}, {h, answer(200, ""), canonical.ActionNone, 0}}, ""},
	} {
		rec := canonical.Record{}
		var last canonical.Step
		for i, s := range c.steps {
			last = observe(rec, s.r, s.at)
			if last.Action != s.action || len(last.Closed) != s.closed {
				t.Errorf("%s, look %d: %s %s with %d closed, want %s with %d", c.name, i, last.Action, last.Reason, len(last.Closed), s.action, s.closed)
			}
			rec = last.Next
		}
		for _, r := range last.Closed {
			if r.Status != c.end || r.ValidUntil.IsZero() || r.EndReason == "" || r.Provenance.Parser == "" || r.Rule == "" {
				t.Errorf("%s: closed as %+v, want status %s with everything that was known of it", c.name, r, c.end)
			}
		}
	}
}

func TestAdvance_DropsAnswersThatCameLate(t *testing.T) {
	t.Parallel()
	rec := observe(canonical.Record{}, answer(200, source, withHeader("Date", "Mon, 30 Nov 2026 12:00:00 GMT")), 0).Next
	old := observe(rec, answer(200, "https://example.com/old", withHeader("Date", "Mon, 30 Nov 2026 13:00:00 GMT"), withHeader("Age", "7200")), time.Hour)
	if old.Action != canonical.ActionKeep || old.Reason != canonical.ReasonOutOfOrder {
		t.Errorf("an older copy: %s %s", old.Action, old.Reason)
	}
	ev := canonical.Extract(answer(200, "https://example.com/old"))
	v := canonical.Judge(canonical.Input{Evidence: ev, At: epoch})
	s := canonical.Advance(rec, canonical.Observed{Evidence: ev, Verdict: v, Started: epoch.Add(-time.Minute), At: epoch.Add(time.Hour)})
	if s.Action != canonical.ActionKeep || s.Reason != canonical.ReasonOutOfOrder {
		t.Errorf("a fetch that began before the last write: %s %s", s.Action, s.Reason)
	}
}

func TestAdvance_HoldsAbsencesOfAMassChange(t *testing.T) {
	t.Parallel()
	rec := observe(canonical.Record{}, answer(200, source), 0).Next
	rec = observe(rec, answer(200, ""), time.Hour).Next
	ev := canonical.Extract(answer(200, ""))
	v := canonical.Judge(canonical.Input{Evidence: ev, At: epoch.Add(3 * time.Hour)})
	s := canonical.Advance(rec, canonical.Observed{Evidence: ev, Verdict: v, At: epoch.Add(3 * time.Hour), HoldMass: true})
	if s.Action != canonical.ActionHold || s.Reason != canonical.ReasonMassChange || len(s.Next.Current) != 1 {
		t.Errorf("%s %s, %d current", s.Action, s.Reason, len(s.Next.Current))
	}
}

func TestAdvance_FlappingEnds(t *testing.T) {
	t.Parallel()
	rec := canonical.Record{}
	for i := 0; i < 6; i++ {
		s := observe(rec, answer(200, fmt.Sprintf("https://example.com/%c", 'a'+i%2)), time.Duration(i)*12*time.Hour)
		rec = s.Next
	}
	if rec.Conflict == nil || len(rec.Current) != 2 || rec.Current[0].Status != canonical.StatusConflicting || rec.Current[0].Score != 0.5 {
		t.Fatalf("alternating values: conflict %v, current %v", rec.Conflict, rec.Current)
	}
	s := observe(rec, answer(200, "https://example.com/a"), 20*24*time.Hour)
	if s.Next.Conflict != nil || len(s.Next.Current) != 1 || len(s.Closed) != 1 {
		t.Errorf("after two quiet weeks: conflict %v, %d current, %d closed", s.Next.Conflict, len(s.Next.Current), len(s.Closed))
	}
}

func TestShown_IsStaleByTimeOnly(t *testing.T) {
	t.Parallel()
	rec := observe(canonical.Record{}, answer(200, source), 0).Next
	r := rec.Current[0]
	at := func(d time.Duration) canonical.Relationship {
		return canonical.Shown(r, &rec, 24*time.Hour, epoch.Add(d))
	}
	if got := at(44 * 24 * time.Hour); got.Status != canonical.StatusValidated || got.Score != 0.98 {
		t.Errorf("after 44 days: %s %.2f", got.Status, got.Score)
	}
	if got := at(46 * 24 * time.Hour); got.Status != canonical.StatusStale || got.Reason != canonical.ReasonTTL || got.Score != canonical.StaleCap {
		t.Errorf("after 46 days: %s %s %.2f", got.Status, got.Reason, got.Score)
	}
	if got := canonical.Shown(r, &rec, 30*24*time.Hour, epoch.Add(80*24*time.Hour)); got.Status != canonical.StatusValidated {
		t.Errorf("looked at every 30 days, after 80: %s", got.Status)
	}
	rec.LastmodNewer = true
	if got := at(time.Hour); got.Status != canonical.StatusStale || got.Reason != canonical.ReasonLastmod {
		t.Errorf("lastmod moved: %s %s", got.Status, got.Reason)
	}
	if r.Score != 0.98 {
		t.Error("the stored score changed")
	}
}

func TestValidate_JudgesTargets(t *testing.T) {
	t.Parallel()
	const target = "https://example.com/t/"
	of := func(status int, head string, more ...func(*canonical.Response)) canonical.Evidence {
		r := canonical.Response{URL: target, Status: status, Header: map[string][]string{"Content-Type": {"text/html"}},
			Body: []byte("<html><head><title>t</title>" + head + "</head><body>x</body></html>")}
		for _, f := range more {
			f(&r)
		}
		return canonical.Extract(r)
	}
	days := func(n int) time.Time { return epoch.Add(time.Duration(n) * 24 * time.Hour) }
	valid := canonical.Target{State: canonical.TargetValid, Validation: canonical.Validation{At: epoch}}
	gone := canonical.Failures{}.Note(canonical.ReadingGone, days(0)).Note(canonical.ReadingGone, days(2))
	brief := canonical.Failures{}.Note(canonical.ReadingGone, days(0)).Note(canonical.ReadingGone, epoch.Add(time.Hour))
	week := canonical.Failures{}
	for i := 0; i < 5; i++ {
		week = week.Note(canonical.ReadingTempFail, days(2*i))
	}
	link := func(u string) string { return `<link rel="canonical" href="` + u + `">` }
	for _, c := range []struct {
		name string
		l    canonical.Look
		want canonical.TargetState
	}{
		{"declares nothing", canonical.Look{Evidence: of(200, "")}, canonical.TargetValid},
		{"declares itself", canonical.Look{Evidence: of(200, link(target))}, canonical.TargetValid},
		{"declares another", canonical.Look{Evidence: of(200, link("https://example.com/u/"))}, canonical.TargetChain},
		{"noindex", canonical.Look{Evidence: of(200, `<meta name=robots content=noindex>`)}, canonical.TargetNoindex},
		{"redirects", canonical.Look{Evidence: of(301, "", withHeader("Location", "/u/"))}, canonical.TargetRedirects},
		{"redirects by refresh", canonical.Look{Evidence: of(200, `<meta http-equiv=refresh content="0;url=/u/">`)}, canonical.TargetRedirects},
		{"robots.txt", canonical.Look{Evidence: canonical.Extract(canonical.Response{URL: target, Failure: canonical.FailureRobots})}, canonical.TargetBlocked},
		{"soft 404", canonical.Look{Evidence: of(200, ""), Soft404: true}, canonical.TargetSoft404},
		{"500 once", canonical.Look{Evidence: of(500, ""), At: days(1)}, canonical.TargetTempFail},
		{"500 once, proven yesterday", canonical.Look{Evidence: of(500, ""), At: days(1), Before: &valid}, canonical.TargetValid},
		{"500 once, proven long ago", canonical.Look{Evidence: of(500, ""), At: days(50), Before: &valid}, canonical.TargetTempFail},
		{"404 twice in an hour", canonical.Look{Evidence: of(404, ""), Failures: brief, At: days(1)}, canonical.TargetNotFound},
		{"404 once, proven yesterday", canonical.Look{Evidence: of(404, ""), At: days(1), Before: &valid}, canonical.TargetValid},
		{"404 twice in two days", canonical.Look{Evidence: of(404, ""), Failures: gone, At: days(2), Before: &valid}, canonical.TargetError},
		{"500 five times in eight days", canonical.Look{Evidence: of(500, ""), Failures: week, At: days(8), Before: &valid}, canonical.TargetError},
		{"304", canonical.Look{Evidence: of(304, ""), At: days(3), Before: &valid}, canonical.TargetValid},
		{"304 of one never seen", canonical.Look{Evidence: of(304, "")}, canonical.TargetUnknown},
		{"PDF", canonical.Look{Evidence: of(200, "", func(r *canonical.Response) { r.Header["Content-Type"] = []string{"application/pdf"} })}, canonical.TargetValid},
	} {
		c.l.Source, c.l.Target = source, target
		if c.l.At.IsZero() {
			c.l.At = epoch
		}
		got := canonical.Validate(c.l)
		if got.State != c.want {
			t.Errorf("%s: state %d, want %d (%+v)", c.name, got.State, c.want, got.Validation)
		}
	}
	down := canonical.Validate(canonical.Look{Source: source, Target: "http://example.com/t/", Evidence: of(200, ""), At: epoch})
	if down.Validation.Protocol != "downgrade" || down.Validation.Status != 200 || *down.Validation.Retrievable != true {
		t.Errorf("validation block %+v", down.Validation)
	}
}

func TestRejudge_FollowsItsTarget(t *testing.T) {
	t.Parallel()
	rec := observe(canonical.Record{}, answer(200, "https://example.com/t/"), 0).Next
	r := rec.Current[0]
	state := func(s canonical.TargetState) canonical.News {
		return canonical.News{Target: canonical.Target{State: s, Validation: canonical.Validation{At: epoch}}, At: epoch}
	}
	for _, c := range []struct {
		n      canonical.News
		rule   string
		status canonical.Status
		reason canonical.Reason
	}{
		{state(canonical.TargetValid), "E3", canonical.StatusValidated, ""},
		{state(canonical.TargetNoindex), "E2", canonical.StatusDeclared, canonical.ReasonTargetNoindex},
		{state(canonical.TargetError), "C3", canonical.StatusDeclared, canonical.ReasonTargetError},
		{canonical.News{Graph: canonical.GraphState{Resolution: canonical.ResolutionLoop}, At: epoch}, "C2", canonical.StatusInvalid, canonical.ReasonLoop},
		{canonical.News{Graph: canonical.GraphState{Resolution: canonical.ResolutionIntoLoop}, At: epoch}, "E2", canonical.StatusDeclared, canonical.ReasonIntoLoop},
		{canonical.News{Graph: canonical.GraphState{Resolution: canonical.ResolutionChain, Depth: 3}, At: epoch}, "E2", canonical.StatusDeclared, canonical.ReasonChain},
	} {
		got := canonical.Rejudge(r, c.n)
		if got.Rule != c.rule || got.Status != c.status || got.Reason != c.reason {
			t.Errorf("%s %s %s, want %s %s %s", got.Rule, got.Status, got.Reason, c.rule, c.status, c.reason)
		}
		// A loop that is mended gives the relationship back.
		if back := canonical.Rejudge(got, state(canonical.TargetValid)); back.Rule != "E3" {
			t.Errorf("from %s back to %s", got.Rule, back.Rule)
		}
		if diff := cmp.Diff(r.Provenance, got.Provenance); diff != "" || !got.ValidFrom.Equal(r.ValidFrom) || got.ID() != r.ID() {
			t.Errorf("rejudging changed what the relationship means: %s", diff)
		}
	}
}
