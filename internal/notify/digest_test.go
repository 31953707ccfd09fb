package notify_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/notify"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store/storetest"
)

func TestDigest_SaysWhatHappenedInItsSpan(t *testing.T) {
	t.Parallel()
	w := newAlarmed(t)
	complete(w.world, models.Counts{Live: 100, Added: 100})
	w.run(models.VerdictComplete, models.Counts{Live: 110, Added: 10}, nil, models.Finding{Code: "empty-loc", Severity: "error"})
	w.run(models.VerdictComplete, models.Counts{Live: 109, Added: 4, Removed: 5, Changed: 3}, nil, models.Finding{Code: "invalid-priority", Severity: "warning"})
	w.run(models.VerdictPartial, models.Counts{Live: 109, Stale: 2, Held: 11}, nil)
	complete(w.world, models.Counts{Live: 500, Added: 391}) // after the span
	storetest.NewSite(t, w.s, "never.example")
	d, err := w.teller.Digest(t.Context(), 0, w.At(2).Add(time.Minute), w.At(4).Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"2 sites: 109 pages (-1); 4 added, 3 changed, 5 removed; the removal of 11 pages waits for a person; 2 pages stale; 1 of 2 runs not complete",
		"example.com: 109 pages (-1); 4 added, 3 changed, 5 removed; the removal of 11 pages waits for a person; 2 pages stale; 1 of 2 runs not complete; fixed: empty-loc",
		"never.example: 0 pages; nothing changed",
	}
	got := notify.Lines(&d)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	d, err = w.teller.Digest(t.Context(), w.Site.ID, w.At(0), w.At(2).Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	// The first run's pages were no additions: the site is new.
	if diff := cmp.Diff([]string{"example.com: 110 pages; new here; 10 added; new findings: empty-loc (1)"}, notify.Lines(&d)); diff != "" {
		t.Error(diff)
	}
}

func TestWorker_SendsADigestOnceWhenItIsDue(t *testing.T) {
	t.Parallel()
	w := newAlarmed(t)
	m := newMailServer(t, nil)
	complete(w.world, models.Counts{Live: 3, Added: 3})
	c, _, err := w.desk.AddChannel(t.Context(), models.ChannelSpec{Address: ptr("mailto:a@example.com"), Digest: ptr("@weekly")})
	if err != nil || c.DigestDue == nil {
		t.Fatalf("%+v, %v", c, err)
	}
	w.now = c.DigestDue.Add(20 * 24 * time.Hour) // no daemon ran for weeks
	sender := notify.NewSender(notify.SenderOptions{Keys: w.s, Mail: &notify.Mail{Server: m.address, From: "s@example.com", TLS: notify.MailPlain}, Timeout: patience})
	for _, owner := range []string{"a", "b"} {
		w.work(func(o *notify.Options) { o.Sender, o.Owner, o.Now = sender, owner, func() time.Time { return w.now } })
	}
	w.log(c, 1)
	if l := <-m.got; !strings.Contains(l.content, "example.com: 3 pages") {
		t.Errorf("%s", l.content)
	}
	events, err := w.s.Events(t.Context(), 0, 10)
	if err != nil || len(events) != 1 || events[0].Type != models.EventDigest {
		t.Fatalf("%+v, %v", events, err)
	}
	var data struct{ Digest models.Digest }
	if err := json.Unmarshal(events[0].Data, &data); err != nil || !data.Digest.To.Equal(*c.DigestDue) || data.Digest.To.Sub(data.Digest.From) != 7*24*time.Hour {
		t.Errorf("%+v, %v", data.Digest, err)
	}
	if got, err := w.s.Channel(t.Context(), c.ID); err != nil || !got.DigestDue.After(w.now) {
		t.Errorf("the next digest: %v, %v", got.DigestDue, err)
	}
	if _, _, err := w.desk.AddChannel(t.Context(), models.ChannelSpec{Address: ptr("mailto:b@example.com"), Digest: ptr("never")}); err == nil {
		t.Error("a schedule that never fires")
	}
}
