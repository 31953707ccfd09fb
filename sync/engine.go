package syncer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// storage is what a run needs of the database; *store.Store has it.
type storage interface {
	Site(ctx context.Context, id int64) (models.Site, error)
	SaveSite(ctx context.Context, site models.Site) error
	AcquireLease(ctx context.Context, host models.Key, owner string, ttl time.Duration) (models.Lease, error)
	LeaseHolder(ctx context.Context, host models.Key) (models.Lease, error)
	RenewLease(ctx context.Context, lease *models.Lease, ttl time.Duration) error
	ReleaseLease(ctx context.Context, lease models.Lease) error

	// TakeRun takes the host and begins the run of a site at once, or says models.ErrConflict when the site moved on.
	TakeRun(ctx context.Context, host models.Key, owner string, ttl time.Duration, site models.Site, run models.Run) (models.Lease, models.Run, error)
	BeginRun(ctx context.Context, lease models.Lease, site int64, run models.Run) (models.Run, error)
	Documents(ctx context.Context, site int64) ([]models.Document, error)
	LastWalk(ctx context.Context, site int64) (run int64, at time.Time, err error)
	Listings(ctx context.Context, site int64, document int32, fn func(models.Listing) error) error
	StageDocument(ctx context.Context, lease models.Lease, site, run int64, document int32, close []models.Key, add []models.Declaration) error
	ListingsIn(ctx context.Context, site int64, document int32, ranges []models.KeyRange, fn func(models.Listing) error) error
	Sums(ctx context.Context, site int64, from int32, n int) ([]models.DocumentSums, error)
	SaveSums(ctx context.Context, lease models.Lease, site, run int64, all []models.DocumentSums) error
	StageDocuments(ctx context.Context, lease models.Lease, site, run int64, all []models.Staging) error
	Unstage(ctx context.Context, lease models.Lease, site, run int64, document int32) error
	SaveDocument(ctx context.Context, lease models.Lease, site, run int64, d *models.Document, findings []models.Finding) error
	SaveValidators(ctx context.Context, lease models.Lease, site int64, all []models.Validators) error
	Elsewhere(ctx context.Context, site int64, keys []models.Key) ([]models.Listing, error)
	SharedKeys(ctx context.Context, site int64, fn func(models.Key) error) error
	Rows(ctx context.Context, site int64, document int32, keys []models.Key) ([]models.Declaration, error)
	CountListed(ctx context.Context, site int64, documents []int32) (int64, error)
	Removals(ctx context.Context, site int64) ([]models.Removal, error)
	Removed(ctx context.Context, site int64, keys []models.Key) ([]models.Removal, error)
	SaveRemovals(ctx context.Context, lease models.Lease, site, run int64, removals []models.Removal) error
	SaveRunFindings(ctx context.Context, lease models.Lease, site, run int64, findings []models.Finding) error
	Finish(ctx context.Context, lease models.Lease, run models.Run, served []int64, next *time.Time) error
	FailRun(ctx context.Context, lease models.Lease, site, run int64, message string) error
	PendingTriggers(ctx context.Context, site int64) ([]models.Trigger, error)
	expectationStorage
	acrossStorage
	publishedStorage
}

// web is what a run needs of the web; *fetch.Client has it.
type web interface {
	Read(ctx context.Context, req fetch.Request, consume func(*fetch.Result) error) (*fetch.Result, error)
	ReadRobots(ctx context.Context, req fetch.Request) (*fetch.RobotsRules, *fetch.Result)
}

// Options wire an Engine; Store and Web are required, zero values of the rest take the defaults named.
type Options struct {
	Store  storage
	Web    web
	Logger *slog.Logger
	Now    func() time.Time
	Owner  string // unique among daemons: host, process and a random part

	// Dead tells that a lease's owner is known to run no more, so that nobody need wait for its lease to end: a process
	// of this machine that was killed. nil: never. The fence refuses the writes of an owner wrongly taken for dead.
	Dead func(owner string) bool

	LeaseTTL     time.Duration // 60 s
	Fetches      int           // documents of one site asked for at a time: 4
	Workers      int           // documents parsed and staged at a time: 2
	MaxDepth     int           // of indexes in indexes: 3
	MaxDocuments int           // of one site: 50,000
	ReadWhole    int           // a document with fewer entries is compared with all its rows, not by sums: 64
	MaxBody      int64         // bytes of one document on the wire: 64 MiB

	Policy   Policy
	NextDue  func(site models.Site, after time.Time) *time.Time // by the site's schedule; nil: never
	Progress func(models.Progress)                              // called often, must not block
	Observe  func(site models.Site, run models.Run)             // called once for each run that ended
	Expected func(site models.Site, e models.Expectation)       // called once for each expectation that was decided

	// Span begins a traced step that works on what key and value say; what it returns ends the step with one word and our
	// own error. nil: nothing is traced.
	Span func(ctx context.Context, name, key, value string) (context.Context, func(outcome string, err error))
	// Link links the span of a run, that of its context, to the requests that brought the triggers it serves. nil: nothing is linked.
	Link func(ctx context.Context, site int64, triggers []int64)
}

func endNothing(string, error) {}

// span is Options.Span, which may be missing; it allocates nothing then.
func (e *Engine) span(ctx context.Context, name, key, value string) (context.Context, func(outcome string, err error)) {
	if e.o.Span == nil {
		return ctx, endNothing
	}
	return e.o.Span(ctx, name, key, value)
}

// Policy says when a page that left its documents counts as removed.
type Policy struct {
	ConfirmAfter time.Duration // wait before the second agreeing walk: 2 min
	ReleaseAfter time.Duration // held removals go after agreeing walks over this time; 0: a person decides
	GuardPages   int64         // more than max(GuardPages, GuardPercent) at once are held: 10
	GuardPercent int64         // 10
}

// Engine runs walks. It is safe for concurrent use; runs of one host follow each other.
type Engine struct {
	o Options

	mu      sync.Mutex
	running map[int64]context.CancelFunc
	last    map[int64]models.Progress
	watch   map[int64]map[chan models.Progress]bool
}

// New checks and completes the options.
func New(o Options) (*Engine, error) {
	if o.Store == nil || o.Web == nil || o.Owner == "" {
		return nil, errors.New("syncer: Store, Web and Owner are required")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.LeaseTTL = orElse(o.LeaseTTL, 60*time.Second)
	o.Fetches = orElse(o.Fetches, 4)
	o.Workers = orElse(o.Workers, 2)
	o.MaxDepth = orElse(o.MaxDepth, 3)
	o.MaxDocuments = orElse(o.MaxDocuments, 50_000)
	o.ReadWhole = orElse(o.ReadWhole, 64)
	o.MaxBody = orElse(o.MaxBody, 64<<20)
	o.Policy.ConfirmAfter = orElse(o.Policy.ConfirmAfter, 2*time.Minute)
	o.Policy.GuardPages = orElse(o.Policy.GuardPages, 10)
	o.Policy.GuardPercent = orElse(o.Policy.GuardPercent, 10)
	return &Engine{o: o, running: map[int64]context.CancelFunc{}, last: map[int64]models.Progress{},
		watch: map[int64]map[chan models.Progress]bool{}}, nil
}

func orElse[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// Request says what to run and why.
type Request struct {
	SiteID  int64
	Site    *models.Site // as it was read a moment ago, agenda included; nil: it is read
	Cause   string       // models.Cause…
	Confirm bool         // make the confirming walk at once, within the same run
	Full    bool         // never aim at single documents, whatever the triggers name
	// Busy says how long to wait for the host's lease while somebody else holds it.
	Busy time.Duration
}

// Run makes one full run and returns its record. An error means that we or the database failed, that the lease was
// busy (models.ErrBusy) or lost, or that ctx ended; whatever the site does wrong is in the record.
func (e *Engine) Run(ctx context.Context, req Request) (models.Run, error) {
	site, err := e.siteOf(ctx, req)
	if err != nil {
		return models.Run{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !e.enter(site.ID, cancel) {
		return models.Run{}, fmt.Errorf("site %s: a run is under way: %w", site.Name, models.ErrBusy)
	}
	defer e.leave(site.ID)
	r := &run{Engine: e, site: site, request: req, log: e.o.Logger.With("component", "sync", "site", site.Name)}
	var asked time.Time
	if r.lease, asked, err = r.take(ctx); err != nil {
		return models.Run{}, fmt.Errorf("take the lease of %s: %w", site.Root, err)
	}
	held, stop := e.keep(ctx, r.lease, asked)
	defer func() { stop(r.givenBack) }()
	held, end := e.span(held, "run", "sitemapd.site", site.Name)
	record, err := r.execute(held)
	end(string(record.Verdict), err)
	if err != nil && context.Cause(held) != nil && !errors.Is(err, context.Cause(held)) {
		err = fmt.Errorf("%w: %w", context.Cause(held), err)
	}
	return record, err
}

func (e *Engine) siteOf(ctx context.Context, req Request) (models.Site, error) {
	if req.Site != nil {
		return *req.Site, nil
	}
	site, err := e.o.Store.Site(ctx, req.SiteID)
	if err != nil {
		return site, fmt.Errorf("read site %d: %w", req.SiteID, err)
	}
	return site, nil
}

// Stop ends the run of a site that is under way here and reports whether there was one.
func (e *Engine) Stop(site int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	cancel, ok := e.running[site]
	if ok {
		cancel()
	}
	return ok
}

// Running reports whether a run of the site is under way in this process.
func (e *Engine) Running(site int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.running[site]
	return ok
}

func (e *Engine) enter(site int64, cancel context.CancelFunc) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.running[site]; ok {
		return false
	}
	e.running[site] = cancel
	return true
}

func (e *Engine) leave(site int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.running, site)
}

// HostKey names the host of a URL for its lease: http and https, www or not, are one host to be polite to.
func HostKey(raw string) models.Key {
	host := raw
	if u, err := url.Parse(raw); err == nil {
		host = u.Host
	}
	host = strings.TrimPrefix(strings.ToLower(host), "www.")
	for _, port := range []string{":80", ":443"} {
		host = strings.TrimSuffix(host, port)
	}
	sum := sha256.Sum256([]byte(host))
	return models.Key(sum[:16])
}
