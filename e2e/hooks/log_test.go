package hooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
)

// TestLog: what arrived, and what became of it, is told in the command line, and can be looked for again.
func TestLog(t *testing.T) {
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "sitemapd.db")
	s := open(t, dsn)
	o := newOrigins(t, s, 1, sitetest.Options{Posts: 20})[0]
	d := newDaemon(t, dsn, "SITEMAPD_SYNC_QUIET=0s")
	d.up()
	firstRuns(t, s, []*origin{o})
	e := o.Publish(sitetest.Spec{})
	first, again := o.send(d.address, "msg_1", e), o.send(d.address, "msg_1", e)
	if first.status != http.StatusOK || again.status != http.StatusOK || first.trigger != again.trigger {
		t.Errorf("answered %+v, then %+v; want the same trigger twice", first, again)
	}
	o.key[0]++
	if a := o.send(d.address, "msg_2", e); a.status != http.StatusUnauthorized {
		t.Errorf("a wrong key was answered with %d", a.status)
	}
	servedAll(t, s, sites([]*origin{o}), time.Minute)

	var replayed struct{ Trigger int64 }
	if err := json.Unmarshal(d.cli("hook", "replay", o.stored.Name, strconv.FormatInt(first.trigger, 10), "-o", "json"), &replayed); err != nil || replayed.Trigger <= first.trigger {
		t.Errorf("replay stored trigger %d (%v), want a new one", replayed.Trigger, err)
	}
	servedAll(t, s, sites([]*origin{o}), time.Minute)
	want := []string{"accepted hook", "accepted hook", "accepted manual", "duplicate ", "rejected bad_signature"}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var got []string
		lines := json.NewDecoder(bytes.NewReader(d.cli("hook", "log", o.stored.Name, "-o", "ndjson")))
		for lines.More() {
			var l models.Delivery
			if err := lines.Decode(&l); err != nil {
				t.Fatal(err)
			}
			got = append(got, l.Result+" "+l.Cause)
			if l.Result == models.DeliveryAccepted && l.Run == 0 {
				t.Errorf("trigger %d was not served", l.Trigger)
			}
		}
		slices.Sort(got)
		// Deliveries that started nothing are noted behind the answer.
		if len(got) >= len(want) || time.Now().After(deadline) {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			break
		}
	}
}

// cli runs a command of the program on the daemon's database.
func (d *daemon) cli(arguments ...string) []byte {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, d.path, append(arguments, "--database", d.dsn)...)
	command.Env = append(os.Environ(), "SITEMAPD_CONFIG=", "SITEMAPD_LOG_LEVEL=error")
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		d.Fatalf("%q: %v: %s", arguments, err, problems.String())
	}
	return out
}
