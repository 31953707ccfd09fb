package handlers

import (
	"context"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// deliveryStore keeps deliveries that became no trigger. Writing them is a courtesy to people: it may fail.
type deliveryStore interface {
	SaveDelivery(ctx context.Context, delivery models.Delivery) error
	// Deliveries gives those of one site with an id below before (0: the newest), newest first.
	Deliveries(ctx context.Context, siteID, before int64, limit int) ([]models.Delivery, error)
}

// rejectLog keeps what happened at the hooks since the start, for daemons without stored deliveries, and
// decides how much of it is worth a row: a flood of bad signatures must not become a flood of writes.
type rejectLog struct {
	mu     sync.Mutex
	kept   map[int64][]models.Delivery // by site, newest last
	nextID int64
	window time.Time
	rows   int
}

const (
	keptDeliveries  = 200
	maxRowsAMinute  = 60
	saveDeliveryFor = 2 * time.Second
)

func newRejectLog() *rejectLog { return &rejectLog{kept: map[int64][]models.Delivery{}} }

func (l *rejectLog) add(d models.Delivery) (worthRow bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nextID++
	d.ID, d.Ref = l.nextID, models.DeliveryRef(l.nextID)
	kept := append(l.kept[d.SiteID], d)
	if len(kept) > keptDeliveries {
		kept = kept[len(kept)-keptDeliveries:]
	}
	l.kept[d.SiteID] = kept
	if d.At.Sub(l.window) > time.Minute || d.At.Before(l.window) {
		l.window, l.rows = d.At, 0
	}
	l.rows++
	return l.rows <= maxRowsAMinute
}

func (l *rejectLog) list(siteID, before int64, limit int) []models.Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []models.Delivery
	kept := l.kept[siteID]
	for i := len(kept) - 1; i >= 0 && len(out) < limit; i-- {
		if before == 0 || kept[i].ID < before {
			out = append(out, kept[i])
		}
	}
	return out
}

// note logs a delivery that became no trigger. Unknown endpoints (site 0) are only counted.
func (s *Server) note(ctx context.Context, a *arrival, result, cause string, trigger int64, hints []models.Hint) {
	s.count(a, result, cause)
	if !a.known {
		return
	}
	status := 200
	if result == models.DeliveryRejected {
		status = 401
	}
	d := models.Delivery{
		SiteID: a.site.ID, At: a.at.UTC(), Result: result, Cause: cause, Status: status, Dialect: a.dialect, KeyID: a.keyID,
		Remote: a.remote, Bytes: int64(len(a.body)), Trigger: trigger, Hints: hints,
	}
	if !s.rejects.add(d) || s.deps.Deliveries == nil {
		return
	}
	// Not before the answer: a refusal would take longer at endpoints that exist.
	s.background.Add(1)
	go func() {
		defer s.background.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveDeliveryFor)
		defer cancel()
		if err := s.deps.Deliveries.SaveDelivery(ctx, d); err != nil {
			s.log.WarnContext(ctx, "delivery not logged", "error", err)
		}
	}()
}

// others gives the deliveries of a site that became no trigger, newest first.
func (s *Server) others(ctx context.Context, siteID, before int64, limit int) ([]models.Delivery, error) {
	if s.deps.Deliveries != nil {
		return s.deps.Deliveries.Deliveries(ctx, siteID, before, limit)
	}
	return s.rejects.list(siteID, before, limit), nil
}

// deliveriesPage merges the inbox with what became no trigger, newest first. The place is kept in both:
// the number before which to go on in the inbox, and beside it the one in the other list.
func (s *Server) deliveriesPage(ctx context.Context, siteID int64, token, result string, size int, hash []byte) (list[models.Delivery], error) {
	out := list[models.Delivery]{Items: []models.Delivery{}}
	at, err := readPosition(token, hash)
	if err != nil {
		return out, err
	}
	var stored []models.Trigger
	if result == "" || result == models.DeliveryAccepted {
		if stored, err = s.deps.Triggers.Triggers(ctx, siteID, at.Number, size+1); err != nil {
			return out, err
		}
	}
	var others []models.Delivery
	if result != models.DeliveryAccepted {
		if others, err = s.others(ctx, siteID, at.Run, size+1); err != nil {
			return out, err
		}
	}
	next := position{Filter: hash, Number: at.Number, Run: at.Run}
	i, j := 0, 0
	for i < len(stored) || j < len(others) {
		if len(out.Items) == size {
			out.NextPageToken = encodePosition(next)
			break
		}
		if j == len(others) || i < len(stored) && !stored[i].ReceivedAt.Before(others[j].At) {
			out.Items = append(out.Items, Delivered(&stored[i]))
			next.Number = stored[i].ID
			i++
			continue
		}
		if result == "" || others[j].Result == result {
			out.Items = append(out.Items, others[j])
		}
		next.Run = others[j].ID
		j++
	}
	// A filter can use up a whole reading of the other list; there may be more behind it.
	if out.NextPageToken == "" && len(others) > size {
		out.NextPageToken = encodePosition(next)
	}
	return out, nil
}

// Delivered shows a trigger as the delivery that it came by.
func Delivered(t *models.Trigger) models.Delivery {
	return models.Delivery{
		ID: t.ID, Ref: models.TriggerRef(t.ID), SiteID: t.SiteID, At: t.ReceivedAt, Result: models.DeliveryAccepted, Cause: t.Kind, Status: 200, Dialect: t.Dialect,
		Bytes: int64(len(t.Body)), Trigger: t.ID, Run: t.ServedRun, Hints: t.Hints,
	}
}

// replay stores a trigger once more, as a new request to look.
func (s *Server) replay(ctx context.Context, site models.Site, id int64) (accepted, error) {
	old, err := s.deps.Triggers.Trigger(ctx, site.ID, id)
	if isNotFound(err) {
		return accepted{}, notFound("accepted delivery of this site")
	}
	if err != nil {
		return accepted{}, err
	}
	old.ID, old.ServedRun, old.ServedAt = 0, 0, nil
	old.SiteID, old.ReceivedAt, old.DedupeKey = site.ID, s.deps.Now().UTC(), dedupeKey("", 0, "", true)
	fresh, _, err := s.deps.Triggers.SaveTrigger(ctx, old)
	if err != nil {
		return accepted{}, err
	}
	s.log.InfoContext(ctx, "delivery replayed", "site", site.ID, "trigger", id, "as", fresh, "by", principalName(ctx))
	s.deps.Engine.Trigger(site.ID, old.Kind)
	return accepted{Trigger: fresh, Progress: apiPrefix + "/sites/" + number(site.ID) + "/progress"}, nil
}

type deliveriesInput struct {
	SiteInput
	PageInput
	Result string `query:"result" enum:"accepted,duplicate,ignored,rejected"`
	Resolved
}

func (s *Server) deliveryRoutes() {
	tags := []string{"hooks"}
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-deliveries", Method: "GET", Path: "/sites/{site}/deliveries", Tags: tags, Errors: []int{404, 422},
		Summary:     "What arrived at the site's hooks and what was done with it, newest first",
		Description: "Accepted deliveries are the stored triggers, also those of people and schedules; the others say why they started nothing.",
	}, func(ctx context.Context, in *deliveriesInput) (*jsonOut[list[models.Delivery]], error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		page, err := s.deliveriesPage(ctx, site.ID, in.PageToken, in.Result, in.size(), in.hash(site))
		return &jsonOut[list[models.Delivery]]{page}, err
	})
	register(s, ScopeRun, huma.Operation{
		OperationID: "replay-delivery", Method: "POST", Path: "/sites/{site}/deliveries/{trigger}/replay", Tags: tags, Errors: []int{404},
		Summary: "Look again for what an accepted delivery announced", DefaultStatus: 202,
	}, func(ctx context.Context, in *struct {
		SiteInput
		Trigger int64 `path:"trigger" minimum:"1" doc:"trigger of the delivery."`
	}) (*jsonOut[accepted], error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		out, err := s.replay(ctx, site, in.Trigger)
		return &jsonOut[accepted]{out}, err
	})
	s.hookKeyRoutes()
}

// hookKey is a secret as the API shows it; its text is there once, when it is made.
type hookKey struct {
	ID        string     `json:"id"`
	Secret    string     `json:"secret,omitempty" doc:"Only in the answer that made it."`
	URL       string     `json:"url" doc:"Where signed deliveries go."`
	TokenURL  string     `json:"token_url,omitempty" doc:"Where senders that cannot sign deliver to. A secret itself: only in the answer that made it."`
	NotBefore time.Time  `json:"not_before"`
	NotAfter  *time.Time `json:"not_after,omitempty"`
}

func (s *Server) shownKey(site models.Site, k models.HookKey, secret bool) hookKey {
	shown := hookKey{ID: k.ID, NotBefore: k.NotBefore, URL: s.deps.PublicURL + "/hooks/" + number(site.ID)}
	if !k.NotAfter.IsZero() {
		shown.NotAfter = &k.NotAfter
	}
	if secret {
		shown.Secret = k.Secret
		if token, err := HookToken(k.Secret); err == nil {
			shown.TokenURL = shown.URL + "/" + token
		}
	}
	return shown
}

func (s *Server) hookKeyRoutes() {
	tags := []string{"hooks"}
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "list-hook-keys", Method: "GET", Path: "/sites/{site}/hook-keys", Tags: tags, Errors: []int{404},
		Summary: "Secrets of the site's hooks, without their texts",
	}, func(ctx context.Context, in *SiteInput) (*jsonOut[list[hookKey]], error) {
		site, err := s.site(ctx, *in)
		if err != nil {
			return nil, err
		}
		keys, err := s.deps.HookKeys.HookKeys(ctx, site.ID)
		out := list[hookKey]{Items: []hookKey{}}
		for _, k := range keys {
			out.Items = append(out.Items, s.shownKey(site, k, false))
		}
		return &jsonOut[list[hookKey]]{out}, err
	})
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "rotate-hook-key", Method: "POST", Path: "/sites/{site}/hook-keys", Tags: tags, Errors: []int{404, 422},
		Summary: "Make a new secret; the older ones stay valid for a while", DefaultStatus: 201,
	}, func(ctx context.Context, in *struct {
		SiteInput
		Overlap int64 `query:"overlap_seconds" minimum:"0" maximum:"2592000" default:"86400" doc:"How long older secrets stay valid."`
	}) (*jsonOut[hookKey], error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		key, err := s.deps.HookKeys.RotateHookKey(ctx, site.ID, time.Duration(in.Overlap)*time.Second)
		if err != nil {
			return nil, err
		}
		return &jsonOut[hookKey]{s.shownKey(site, key, true)}, nil
	})
}
