package handlers_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sitemapd/sitemapd/handlers"
	"github.com/sitemapd/sitemapd/handlers/hook"
	"github.com/sitemapd/sitemapd/models"
)

// store is every storage interface of Deps, each method a field; a nil field answers ErrNotFound or nothing.
type store struct {
	FindSiteFunc        func(name string) (models.Site, error)
	SitesFunc           func() ([]models.Site, error)
	AddSiteFunc         func(models.Site) (models.Site, error)
	SaveSiteFunc        func(models.Site) error
	ChangeSiteFunc      func(int64, func(*models.Site) error) (models.Site, error)
	RemoveSiteFunc      func(int64) error
	PagesFunc           func(siteID int64, f models.PageFilter, fn func(*models.Page) error) error
	CountPagesFunc      func(siteID int64, f models.PageFilter) (int64, error)
	PageHistoryFunc     func(siteID int64, key models.Key) ([]models.Page, error)
	RunAtFunc           func(siteID int64, at time.Time) (int64, error)
	ChangesFunc         func(siteID int64, f models.ChangeFilter, fn func(*models.Change) error) error
	DiffFunc            func(siteID int64, f models.DiffFilter, fn func(*models.Change) error) error
	RunsFunc            func(siteID, before int64, limit int) ([]models.Run, error)
	RunFunc             func(siteID, id int64) (models.Run, error)
	DocumentsAtFunc     func(siteID int64, at models.AsOf) ([]models.Document, error)
	DocumentHistoryFunc func(siteID int64, document int32) ([]models.Document, error)
	FindingsFunc        func(siteID int64, f models.FindingFilter) ([]models.Finding, error)
	RemovalsFunc        func(siteID int64) ([]models.Removal, error)
	DecideRemovalsFunc  func(siteID int64, keys []models.Key, approve bool) (int64, error)
	SaveTriggerFunc     func(models.Trigger) (int64, bool, error)
	TriggersFunc        func(siteID, before int64, limit int) ([]models.Trigger, error)
	TriggerFunc         func(siteID, id int64) (models.Trigger, error)
	HookKeysFunc        func(siteID int64) ([]models.HookKey, error)
	RotateHookKeyFunc   func(siteID int64, overlap time.Duration) (models.HookKey, error)
	TokenByHashFunc     func([32]byte) (models.Token, error)
	TokensFunc          func() ([]models.Token, error)
	SaveTokenFunc       func(models.Token) (models.Token, error)
	RevokeTokenFunc     func(id int64, at time.Time) error
	TouchTokenFunc      func(id int64, at time.Time) error

	PagesLeft   string // cursor at which a reading ended for its time
	ChangesLeft string

	SegmentsFunc      func(siteID int64) ([]models.Segment, error)
	SaveSegmentFunc   func(models.Segment) (models.Segment, error)
	RemoveSegmentFunc func(siteID, id int64) error

	DeliveriesFunc         func(siteID, before int64, limit int) ([]models.Delivery, error)
	SaveDeliveryFunc       func(models.Delivery) error
	ExpectationHistoryFunc func(siteID, before int64, limit int) ([]models.Expectation, error)
}

func (s *store) FindSite(_ context.Context, name string) (models.Site, error) {
	if s.FindSiteFunc == nil {
		return models.Site{}, models.ErrNotFound
	}
	return s.FindSiteFunc(name)
}

func (s *store) Sites(context.Context) ([]models.Site, error) {
	if s.SitesFunc == nil {
		return nil, nil
	}
	return s.SitesFunc()
}
func (s *store) AddSite(_ context.Context, site models.Site) (models.Site, error) {
	return s.AddSiteFunc(site)
}
func (s *store) SaveSite(_ context.Context, site models.Site) error { return s.SaveSiteFunc(site) }
func (s *store) ChangeSite(_ context.Context, id int64, change func(*models.Site) error) (models.Site, error) {
	if s.ChangeSiteFunc != nil {
		return s.ChangeSiteFunc(id, change)
	}
	site := exampleSite
	if err := change(&site); err != nil {
		return models.Site{}, err
	}
	return site, s.SaveSite(context.Background(), site)
}
func (s *store) RemoveSite(_ context.Context, id int64) error { return s.RemoveSiteFunc(id) }

func (s *store) Pages(_ context.Context, siteID int64, f models.PageFilter, fn func(*models.Page) error) error {
	if s.PagesFunc == nil {
		return nil
	}
	return s.PagesFunc(siteID, f, fn)
}

func (s *store) PagesWithin(ctx context.Context, siteID int64, f models.PageFilter, _ time.Duration, fn func(*models.Page) error) (string, error) {
	return s.PagesLeft, s.Pages(ctx, siteID, f, fn)
}

func (s *store) ChangesWithin(ctx context.Context, siteID int64, f models.ChangeFilter, _ time.Duration, fn func(*models.Change) error) (string, error) {
	return s.ChangesLeft, s.Changes(ctx, siteID, f, fn)
}

func (s *store) CountPages(_ context.Context, siteID int64, f models.PageFilter) (int64, error) {
	return s.CountPagesFunc(siteID, f)
}

func (s *store) PageHistory(_ context.Context, siteID int64, key models.Key) ([]models.Page, error) {
	if s.PageHistoryFunc == nil {
		return nil, models.ErrNotFound
	}
	return s.PageHistoryFunc(siteID, key)
}

func (s *store) RunAt(_ context.Context, siteID int64, at time.Time) (int64, error) {
	return s.RunAtFunc(siteID, at)
}

func (s *store) Changes(_ context.Context, siteID int64, f models.ChangeFilter, fn func(*models.Change) error) error {
	if s.ChangesFunc == nil {
		return nil
	}
	return s.ChangesFunc(siteID, f, fn)
}

func (s *store) DiffWithin(ctx context.Context, siteID int64, f models.DiffFilter, _ time.Duration, fn func(*models.Change) error) (string, error) {
	return "", s.Diff(ctx, siteID, f, fn)
}

func (s *store) Diff(_ context.Context, siteID int64, f models.DiffFilter, fn func(*models.Change) error) error {
	if s.DiffFunc == nil {
		return nil
	}
	return s.DiffFunc(siteID, f, fn)
}

func (s *store) CurrentRuns(ctx context.Context) (map[int64]models.Run, error) {
	out := map[int64]models.Run{}
	sites, err := s.Sites(ctx)
	for _, site := range sites {
		runs, err := s.Runs(ctx, site.ID, 0, 0)
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			if run.ID == site.CurrentRun {
				out[site.ID] = run
			}
		}
	}
	return out, err
}

func (s *store) Runs(_ context.Context, siteID, before int64, limit int) ([]models.Run, error) {
	if s.RunsFunc == nil {
		return nil, nil
	}
	return s.RunsFunc(siteID, before, limit)
}

func (s *store) Run(_ context.Context, siteID, id int64) (models.Run, error) {
	if s.RunFunc == nil {
		return models.Run{}, models.ErrNotFound
	}
	return s.RunFunc(siteID, id)
}

func (s *store) DocumentsAt(_ context.Context, siteID int64, at models.AsOf) ([]models.Document, error) {
	if s.DocumentsAtFunc == nil {
		return nil, nil
	}
	return s.DocumentsAtFunc(siteID, at)
}

func (s *store) DocumentHistory(_ context.Context, siteID int64, document int32) ([]models.Document, error) {
	if s.DocumentHistoryFunc == nil {
		return nil, models.ErrNotFound
	}
	return s.DocumentHistoryFunc(siteID, document)
}

func (s *store) Findings(_ context.Context, siteID int64, f models.FindingFilter) ([]models.Finding, error) {
	if s.FindingsFunc == nil {
		return nil, nil
	}
	return s.FindingsFunc(siteID, f)
}

// HeldRemovals gives those of RemovalsFunc that are held; their cursors are their places.
func (s *store) HeldRemovals(_ context.Context, siteID int64, after string, limit int) ([]models.Removal, error) {
	if s.RemovalsFunc == nil {
		return nil, nil
	}
	all, err := s.RemovalsFunc(siteID)
	all = slices.DeleteFunc(all, func(r models.Removal) bool { return r.Stage != models.StageHeld })
	for i := range all {
		all[i].Cursor = strconv.Itoa(i + 1)
	}
	from, _ := strconv.Atoi(after)
	return all[min(from, len(all)):min(from+limit, len(all))], err
}

func (s *store) CountHeld(ctx context.Context, siteID int64, limit int) (int64, error) {
	held, err := s.HeldRemovals(ctx, siteID, "", limit)
	return int64(len(held)), err
}

func (s *store) DecideRemovals(_ context.Context, siteID int64, keys []models.Key, approve bool) (int64, error) {
	return s.DecideRemovalsFunc(siteID, keys, approve)
}

func (s *store) SaveTrigger(_ context.Context, t models.Trigger) (int64, bool, error) {
	return s.SaveTriggerFunc(t)
}

func (s *store) Triggers(_ context.Context, siteID, before int64, limit int) ([]models.Trigger, error) {
	if s.TriggersFunc == nil {
		return nil, nil
	}
	return s.TriggersFunc(siteID, before, limit)
}

func (s *store) Trigger(_ context.Context, siteID, id int64) (models.Trigger, error) {
	if s.TriggerFunc == nil {
		return models.Trigger{}, models.ErrNotFound
	}
	return s.TriggerFunc(siteID, id)
}

func (s *store) HookKeys(_ context.Context, siteID int64) ([]models.HookKey, error) {
	if s.HookKeysFunc == nil {
		return nil, nil
	}
	return s.HookKeysFunc(siteID)
}

func (s *store) RotateHookKey(_ context.Context, siteID int64, overlap time.Duration) (models.HookKey, error) {
	return s.RotateHookKeyFunc(siteID, overlap)
}

func (s *store) TokenByHash(_ context.Context, hash [32]byte) (models.Token, error) {
	if s.TokenByHashFunc == nil {
		return models.Token{}, models.ErrNotFound
	}
	return s.TokenByHashFunc(hash)
}

func (s *store) Tokens(context.Context) ([]models.Token, error) {
	if s.TokensFunc == nil {
		return nil, nil
	}
	return s.TokensFunc()
}

func (s *store) SaveToken(_ context.Context, token models.Token) (models.Token, error) {
	return s.SaveTokenFunc(token)
}

func (s *store) RevokeToken(_ context.Context, id int64, at time.Time) error {
	if s.RevokeTokenFunc == nil {
		return models.ErrNotFound
	}
	return s.RevokeTokenFunc(id, at)
}

func (s *store) TouchToken(_ context.Context, id int64, at time.Time) error {
	if s.TouchTokenFunc == nil {
		return nil
	}
	return s.TouchTokenFunc(id, at)
}

func (s *store) Segments(_ context.Context, siteID int64) ([]models.Segment, error) {
	if s.SegmentsFunc == nil {
		return nil, nil
	}
	return s.SegmentsFunc(siteID)
}

func (s *store) SaveSegment(_ context.Context, g models.Segment) (models.Segment, error) {
	return s.SaveSegmentFunc(g)
}

func (s *store) RemoveSegment(_ context.Context, siteID, id int64) error {
	return s.RemoveSegmentFunc(siteID, id)
}

func (s *store) SaveDelivery(_ context.Context, d models.Delivery) error {
	return s.SaveDeliveryFunc(d)
}

func (s *store) Deliveries(_ context.Context, siteID, before int64, limit int) ([]models.Delivery, error) {
	return s.DeliveriesFunc(siteID, before, limit)
}

func (s *store) ExpectationHistory(_ context.Context, siteID, before int64, limit int) ([]models.Expectation, error) {
	return s.ExpectationHistoryFunc(siteID, before, limit)
}

// walker is the engine.
type walker struct {
	TriggerFunc  func(siteID int64, cause string)
	ProgressFunc func(siteID int64) (models.Progress, bool)
	WatchFunc    func(ctx context.Context, siteID int64) <-chan models.Progress
	StopFunc     func(siteID int64) bool
}

func (w *walker) Trigger(siteID int64, cause string) {
	if w.TriggerFunc != nil {
		w.TriggerFunc(siteID, cause)
	}
}

func (w *walker) Progress(siteID int64) (models.Progress, bool) {
	if w.ProgressFunc == nil {
		return models.Progress{}, false
	}
	return w.ProgressFunc(siteID)
}

func (w *walker) Watch(ctx context.Context, siteID int64) <-chan models.Progress {
	if w.WatchFunc == nil {
		quiet := make(chan models.Progress)
		go func() { <-ctx.Done(); close(quiet) }()
		return quiet
	}
	return w.WatchFunc(ctx, siteID)
}

func (w *walker) Stop(siteID int64) bool { return w.StopFunc != nil && w.StopFunc(siteID) }

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// fixture is one server with one site and one live secret.
type fixture struct {
	store  *store
	walker *walker
	deps   handlers.Deps
	server *handlers.Server
	key    hook.Key
	token  string // bearer token with every scope

	mu       sync.Mutex
	triggers []models.Trigger
	woken    []string
}

var exampleSite = models.Site{
	ID: 1, Name: "example.com", Home: "https://example.com/", Root: "https://example.com/wp-sitemap.xml",
	Roots:    []models.Root{{URL: "https://example.com/wp-sitemap.xml", Discovery: "robots_txt"}},
	Schedule: "*/15 * * * *", CurrentRun: 7, LastRun: 7, Live: 3, CreatedAt: now.Add(-time.Hour),
}

func keyFor(link string) (models.Key, error) {
	var key models.Key
	if !strings.HasPrefix(link, "http") {
		return key, models.Invalid("url", "", "no address")
	}
	sum := sha256.Sum256([]byte(strings.TrimSuffix(link, "/")))
	copy(key[:], sum[:])
	return key, nil
}

func newFixture(t *testing.T, change ...func(*fixture)) *fixture {
	t.Helper()
	key, err := hook.NewKey("key-1", now.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{key: key, walker: &walker{}}
	f.walker.TriggerFunc = func(_ int64, cause string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.woken = append(f.woken, cause)
	}
	token, text, err := handlers.NewToken("test", []string{handlers.ScopeAdmin}, now, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.token = text
	f.store = &store{
		FindSiteFunc: func(name string) (models.Site, error) {
			if name == "1" || name == "example.com" || name == exampleSite.Root {
				return exampleSite, nil
			}
			return models.Site{}, models.ErrNotFound
		},
		SitesFunc: func() ([]models.Site, error) { return []models.Site{exampleSite}, nil },
		HookKeysFunc: func(siteID int64) ([]models.HookKey, error) {
			if siteID != 1 {
				return nil, nil
			}
			return []models.HookKey{{ID: "key-1", Secret: key.Secret(), NotBefore: key.NotBefore}}, nil
		},
		SaveTriggerFunc: f.saveTrigger,
		TokenByHashFunc: func(hash [32]byte) (models.Token, error) {
			if hash == token.Hash {
				return token, nil
			}
			return models.Token{}, models.ErrNotFound
		},
	}
	f.deps = handlers.Deps{
		Sites: f.store, Pages: f.store, Changes: f.store, Runs: f.store, Documents: f.store, Findings: f.store, Removals: f.store,
		Triggers: f.store, HookKeys: f.store, Tokens: f.store, Segments: f.store, Engine: f.walker, KeyFor: keyFor,
		Ready: func(context.Context) error { return nil }, Now: func() time.Time { return now }, Registry: prometheus.NewRegistry(),
		Version: "1.2.3",
	}
	for _, c := range change {
		c(f)
	}
	if f.server, err = handlers.New(f.deps); err != nil {
		t.Fatal(err)
	}
	return f
}

// saveTrigger keeps triggers as the inbox would, with its dedupe key.
func (f *fixture) saveTrigger(trigger models.Trigger) (int64, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, old := range f.triggers {
		if old.DedupeKey == trigger.DedupeKey {
			return int64(i + 1), true, nil
		}
	}
	trigger.ID = int64(len(f.triggers) + 1)
	f.triggers = append(f.triggers, trigger)
	return trigger.ID, false, nil
}

// request is one call; header names and values alternate.
func (f *fixture) request(method, target, body string, header ...string) *http.Response {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return f.do(r)
}

func (f *fixture) do(r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	f.server.ServeHTTP(w, r)
	return w.Result()
}

// get asks the API with the token.
func (f *fixture) get(target string, header ...string) *http.Response {
	return f.request("GET", target, "", append([]string{"Authorization", "Bearer " + f.token}, header...)...)
}

func (f *fixture) post(target, body string, header ...string) *http.Response {
	return f.request("POST", target, body, append([]string{"Authorization", "Bearer " + f.token, "Content-Type", "application/json"}, header...)...)
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func decode[T any](t *testing.T, r *http.Response) T {
	t.Helper()
	var v T
	b, _ := io.ReadAll(r.Body)
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&v); err != nil {
		t.Fatalf("%v in %q", err, b)
	}
	return v
}

func wantStatus(t *testing.T, r *http.Response, status int) {
	t.Helper()
	if r.StatusCode != status {
		b, _ := io.ReadAll(r.Body)
		t.Fatalf("status %d, want %d: %s", r.StatusCode, status, b)
	}
}

// serve runs the server on a real loopback listener until the test ends.
func (f *fixture) serve(t *testing.T) (base string, stop func() error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.server.Serve(ctx, listener) }()
	var once sync.Once
	var result error
	stop = func() error {
		once.Do(func() { cancel(); result = <-done })
		return result
	}
	t.Cleanup(func() { _ = stop() })
	return "http://" + listener.Addr().String(), stop
}

func hashOf(text string) [32]byte { return sha256.Sum256([]byte(text)) }
