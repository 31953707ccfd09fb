package browser_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
)

const patience = 30 * time.Second

var program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("SITEMAPD_TEST_BIN"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "sitemapd-browser")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "sitemapd")
	out, err := exec.Command("go", "build", "-o", path, "github.com/sitemapd/sitemapd/cmd/sitemapd").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build sitemapd: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil && os.Getenv("SITEMAPD_TEST_BIN") == "" {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// daemon starts the program on an empty database and gives its address.
func daemon(t *testing.T, more ...string) string {
	t.Helper()
	if os.Getenv("SITEMAPD_TEST_CHROMIUM") == "" {
		t.Skip("SITEMAPD_TEST_CHROMIUM is not set; scripts/test.sh browser sets it")
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	dir := t.TempDir()
	args := append([]string{"serve", "--listen", address, "--database", "sqlite:" + filepath.Join(dir, "test.db"), "--allow-private", "127.0.0.0/8"}, more...)
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "SITEMAPD_SYNC_SCHEDULE=off", "SITEMAPD_SYNC_QUIET=0s", "SITEMAPD_SYNC_CONFIRM_AFTER=1s", "SITEMAPD_HTTP_OPEN_LOCAL=true")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the daemon's log:\n%.6000s", log.String())
		}
	})
	base := "http://" + address
	until(t, "the daemon answers", func() bool {
		r, err := http.Get(base + "/readyz")
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	return base
}

func until(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if ready() {
			return
		}
	}
	t.Fatalf("waited in vain: %s", what)
}

// origin is a WordPress-shaped site on this machine.
func origin(t *testing.T, posts int) *sitetest.Site {
	t.Helper()
	site := sitetest.New(sitetest.Options{Posts: posts, Pages: 5, Categories: 3, Tags: 4, Users: 2, Seed: 7})
	if err := site.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = site.Close() })
	return site
}

// tab is one tab of the browser, with all that it complained of or asked for elsewhere.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu         sync.Mutex
	complaints []string
	received   map[network.RequestID]string
	bytes      map[string]float64 // by address, as they came over the wire
}

var browser = sync.OnceValue(func() context.Context {
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(os.Getenv("SITEMAPD_TEST_CHROMIUM")), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.WindowSize(1280, 900), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("lang", "en-GB"))
	allocator, _ := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, _ := chromedp.NewContext(allocator)
	return ctx
})

// newTab opens a tab of its own browser context, so that cookies and storage are fresh.
func newTab(t *testing.T, base string, scripts bool) *tab {
	t.Helper()
	parent := browser()
	if err := chromedp.Do(parent); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	b := &tab{t: t, base: base, bytes: map[string]float64{}, received: map[network.RequestID]string{}}
	ctx, cancel := chromedp.NewContext(parent, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.note))
	t.Cleanup(cancel)
	b.ctx = ctx
	// Not under a deadline: the tab lives as long as the context that opened it.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	b.do(chromedp.EmulateViewport(1280, 900))
	if !scripts {
		b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
			return err
		}))
	}
	t.Cleanup(b.quiet)
	return b
}

func (b *tab) note(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		b.received[e.RequestID] = e.Request.URL
		if !strings.HasPrefix(e.Request.URL, b.base) && !strings.HasPrefix(e.Request.URL, "data:") && !strings.HasPrefix(e.Request.URL, "about:") {
			b.complaints = append(b.complaints, "request to "+e.Request.URL)
		}
	case *network.EventLoadingFinished:
		b.bytes[b.received[e.RequestID]] = e.EncodedDataLength
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Source == "security" {
			b.complaints = append(b.complaints, "log: "+e.Entry.Text+" "+e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" {
			b.complaints = append(b.complaints, "console error")
		}
	}
}

// quiet ends a test with what the browser complained of.
func (b *tab) quiet() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		b.t.Errorf("browser: %s", c)
	}
	b.complaints = nil
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v\nat %s", err, b.where())
	}
}

func (b *tab) open(path string) { b.t.Helper(); b.do(chromedp.Navigate(b.base + path)) }

func (b *tab) where() string {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	location, _ := chromedp.Run(ctx, chromedp.Location())
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector('main') ? document.querySelector('main').innerText.slice(0, 1500) : ''`))
	return location + "\n" + text
}

// eval evaluates an expression in the page; the debugger may do so also where the page itself may run no scripts.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%.200s: %v\nat %s", expression, err, b.where())
	}
	return v
}

// sees waits until an expression about the page is true. Pages may be on their way to another meanwhile.
func (b *tab) sees(what, expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		cancel()
		if err == nil && ok {
			return
		}
	}
	b.t.Fatalf("waited in vain: %s\nat %s", what, b.where())
}

func (b *tab) seesText(text string) {
	b.t.Helper()
	b.sees("text "+text, fmt.Sprintf(`document.body !== null && document.body.innerText.includes(%q)`, text))
}

// fetch asks for what a link of the page leads to, as its download would.
func (b *tab) fetch(link string) (status int, contentType string, body []byte) {
	b.t.Helper()
	if strings.HasPrefix(link, "/") {
		link = b.base + link
	}
	r, err := http.Get(link)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	body, err = io.ReadAll(r.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return r.StatusCode, r.Header.Get("Content-Type"), body
}
