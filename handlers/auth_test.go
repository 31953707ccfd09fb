package handlers_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/handlers"
	"github.com/sitemapd/sitemapd/models"
)

// from makes a request look as it does on a real listener.
func from(peer, local, host, method, target string, header ...string) *http.Request {
	r := httptest.NewRequest(method, target, nil)
	r.RemoteAddr, r.Host = peer, host
	addr := netip.MustParseAddrPort(local)
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, tcpAddr(addr.String())))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

type tcpAddr string

func (a tcpAddr) Network() string { return "tcp" }
func (a tcpAddr) String() string  { return string(a) }

func TestAuth_OpenLocalIsForThisMachineAlone(t *testing.T) {
	t.Parallel()
	open := newFixture(t, func(f *fixture) { f.deps.OpenLocal = true })
	closed := newFixture(t)
	for _, c := range []struct {
		name, peer, local, host string
		header                  []string
		status                  int
	}{
		{"loopback", "127.0.0.1:5000", "127.0.0.1:8080", "127.0.0.1:8080", nil, 200},
		{"loopback by name", "127.0.0.1:5000", "127.0.0.1:8080", "localhost:8080", nil, 200},
		{"loopback v6", "[::1]:5000", "[::1]:8080", "[::1]:8080", nil, 200},
		{"another machine", "192.0.2.7:5000", "192.0.2.1:8080", "192.0.2.1:8080", nil, 401},
		{"this machine at a public listener", "127.0.0.1:5000", "192.0.2.1:8080", "127.0.0.1:8080", nil, 401},
		{"rebound name", "127.0.0.1:5000", "127.0.0.1:8080", "evil.example", nil, 401},
		{"rebound name with a port", "127.0.0.1:5000", "127.0.0.1:8080", "evil.example:8080", nil, 401},
		{"name that looks local", "127.0.0.1:5000", "127.0.0.1:8080", "127.0.0.1.evil.example", nil, 401},
		{"through a proxy", "127.0.0.1:5000", "127.0.0.1:8080", "127.0.0.1:8080", []string{"X-Forwarded-For", "203.0.113.9"}, 401},
		{"through a proxy, standard header", "127.0.0.1:5000", "127.0.0.1:8080", "localhost", []string{"Forwarded", "for=203.0.113.9"}, 401},
		{"with a wrong token", "127.0.0.1:5000", "127.0.0.1:8080", "localhost", []string{"Authorization", "Bearer smd_wrong"}, 401},
	} {
		if got := open.do(from(c.peer, c.local, c.host, "GET", "/api/v1/sites", c.header...)).StatusCode; got != c.status {
			t.Errorf("%s: %d, want %d", c.name, got, c.status)
		}
		if got := closed.do(from(c.peer, c.local, c.host, "GET", "/api/v1/sites", c.header...)).StatusCode; got != 401 {
			t.Errorf("%s, not opened: %d", c.name, got)
		}
	}
}

func TestAuth_OtherSitesPagesCannotWriteForALocalBrowser(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) { f.deps.OpenLocal = true })
	for _, c := range []struct {
		header []string
		status int
	}{
		{nil, 202},
		{[]string{"Sec-Fetch-Site", "same-origin"}, 202},
		{[]string{"Sec-Fetch-Site", "none"}, 202},
		{[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		{[]string{"Sec-Fetch-Site", "same-site"}, 403},
		{[]string{"Origin", "https://evil.example"}, 403},
		{[]string{"Origin", "null"}, 403},
		{[]string{"Origin", "http://127.0.0.1:8080"}, 202},
	} {
		r := f.do(from("127.0.0.1:5000", "127.0.0.1:8080", "127.0.0.1:8080", "POST", "/api/v1/sites/1/runs", c.header...))
		if r.StatusCode != c.status {
			t.Errorf("%v: %d, want %d", c.header, r.StatusCode, c.status)
		}
	}
}

func TestAuth_ScopesIncludeTheLowerOnes(t *testing.T) {
	t.Parallel()
	for i, scope := range []string{handlers.ScopeRead, handlers.ScopeRun, handlers.ScopeWrite, handlers.ScopeAdmin} {
		token, secret, err := handlers.NewToken("t", []string{scope}, now, nil)
		if err != nil {
			t.Fatal(err)
		}
		f := newFixture(t, rich, func(f *fixture) {
			f.store.TokenByHashFunc = func([32]byte) (models.Token, error) { return token, nil }
		})
		for need, c := range []struct{ method, path, body string }{
			{"GET", "/sites", ""}, {"POST", "/sites/1/runs", ""}, {"POST", "/sites/1/held/reject", `{"all":true}`}, {"GET", "/tokens", ""},
		} {
			r := f.request(c.method, "/api/v1"+c.path, c.body, "Authorization", "bearer "+secret, "Content-Type", "application/json")
			if (r.StatusCode < 300) != (need <= i) || r.StatusCode >= 300 && r.StatusCode != 403 {
				t.Errorf("%s at %s: %d", scope, c.path, r.StatusCode)
			}
		}
	}
}

func TestAuth_TokensThatDoNotCount(t *testing.T) {
	t.Parallel()
	past, future := now.Add(-time.Second), now.Add(time.Hour)
	used := now.Add(-30 * time.Second)
	for name, c := range map[string]struct {
		token  models.Token
		err    error
		status int
		touch  bool
	}{
		"live":            {models.Token{Scopes: []string{"read"}, ExpiresAt: &future}, nil, 200, true},
		"used lately":     {models.Token{Scopes: []string{"read"}, LastUsedAt: &used}, nil, 200, false},
		"expired":         {models.Token{Scopes: []string{"admin"}, ExpiresAt: &past}, nil, 401, false},
		"revoked":         {models.Token{Scopes: []string{"admin"}, RevokedAt: &past}, nil, 401, false},
		"without scopes":  {models.Token{}, nil, 401, false},
		"unknown scope":   {models.Token{Scopes: []string{"root"}}, nil, 403, true},
		"unknown":         {models.Token{}, models.ErrNotFound, 401, false},
		"database broken": {models.Token{}, errors.New("gone"), 500, false},
	} {
		touched := false
		f := newFixture(t, func(f *fixture) {
			f.store.TokenByHashFunc = func([32]byte) (models.Token, error) { return c.token, c.err }
			f.store.TouchTokenFunc = func(int64, time.Time) error { touched = true; return nil }
		})
		r := f.get("/api/v1/sites")
		if r.StatusCode != c.status || touched != c.touch {
			t.Errorf("%s: %d, touched %v", name, r.StatusCode, touched)
		}
		if c.status == 401 && !strings.HasPrefix(r.Header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s: %v", name, r.Header)
		}
	}
	f := newFixture(t)
	for _, header := range []string{"Bearer", "Bearer ", "Basic " + f.token, f.token, "Bearer " + strings.Repeat("x", 300)} {
		if r := f.request("GET", "/api/v1/sites", "", "Authorization", header); r.StatusCode != 401 {
			t.Errorf("%.20q: %d", header, r.StatusCode)
		}
	}
}

func TestAuth_RateLimitIsPerTokenAndSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	clock := now
	f := newFixture(t, func(f *fixture) {
		f.deps.RatePerMinute = 60 // fifteen at once
		f.deps.Now = func() time.Time { return clock }
	})
	for range 15 {
		wantStatus(t, f.get("/api/v1/sites"), 200)
	}
	r := f.get("/api/v1/sites")
	if r.StatusCode != 429 || r.Header.Get("Retry-After") != "1" || r.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	told := func(r *http.Response) string {
		h := r.Header
		return h.Get("RateLimit-Limit") + " " + h.Get("RateLimit-Remaining") + " " + h.Get("RateLimit-Reset") + " " + h.Get("RateLimit-Policy")
	}
	if got := told(r); got != "15 0 15 60;w=60;burst=15" {
		t.Errorf("refused with %s", got)
	}
	wantStatus(t, f.request("GET", "/api/v1/sites", ""), 401) // another caller has its own bucket
	clock = clock.Add(5 * time.Second)
	r = f.get("/api/v1/sites")
	wantStatus(t, r, 200)
	if got := told(r); got != "15 4 11 60;w=60;burst=15" {
		t.Errorf("let through with %s", got)
	}
	if got := told(f.get("/livez")); got != "   " {
		t.Errorf("what is not limited says %s", got)
	}
	for range 100 { // hooks are not limited: coalescing bounds what they cost
		wantStatus(t, f.request("POST", "/hooks/1", published, standard(f.key, "m", clock, published)...), 200)
	}
}

func TestAuth_ForwardedAddressesCountOnlyFromTrustedProxies(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) {
		f.deps.RatePerMinute = 60
		f.deps.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	ask := func(peer, forwarded string) int {
		return f.do(from(peer, "10.0.0.1:80", "sitemapd.example", "GET", "/api/v1/sites", "X-Forwarded-For", forwarded)).StatusCode
	}
	for range 15 {
		ask("10.0.0.9:1", "203.0.113.1")
	}
	if got := ask("10.0.0.9:1", "203.0.113.1"); got != 429 {
		t.Errorf("same client: %d", got)
	}
	if got := ask("10.0.0.9:1", "198.51.100.4, 203.0.113.1"); got != 429 {
		t.Errorf("client that forges what stands before it: %d", got)
	}
	if got := ask("10.0.0.9:1", "203.0.113.2"); got != 401 {
		t.Errorf("another client: %d", got)
	}
	for i := range 15 {
		ask("192.0.2.5:1", "203.0.113."+string(rune('a'+i)))
	}
	if got := ask("192.0.2.5:1", "203.0.113.77"); got != 429 {
		t.Errorf("client that is no proxy and forges addresses: %d", got)
	}
}

// people is the account store in memory.
type people struct {
	mu       sync.Mutex
	accounts map[string]models.Account
	sessions map[[32]byte]models.Session
	link     *[32]byte
	expires  time.Time
}

func withPeople(f *fixture) *people {
	p := &people{accounts: map[string]models.Account{}, sessions: map[[32]byte]models.Session{}}
	f.deps.Accounts = p
	return p
}

func (p *people) Accounts(context.Context) ([]models.Account, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []models.Account
	for _, a := range p.accounts {
		all = append(all, a)
	}
	return all, nil
}

func (p *people) Account(_ context.Context, name string) (models.Account, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, ok := p.accounts[name]
	if !ok {
		return a, models.ErrNotFound
	}
	return a, nil
}

func (p *people) SaveAccount(_ context.Context, a models.Account) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accounts[a.Name] = a
	return nil
}

func (p *people) SaveSession(_ context.Context, s models.Session) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[s.Hash] = s
	return nil
}

func (p *people) SessionByHash(_ context.Context, hash [32]byte) (models.Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.sessions[hash]
	if !ok {
		return s, models.ErrNotFound
	}
	return s, nil
}

func (p *people) TouchSession(_ context.Context, hash [32]byte, seen, expires time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sessions[hash]
	s.SeenAt, s.ExpiresAt = seen, expires
	p.sessions[hash] = s
	return nil
}

func (p *people) EndSession(_ context.Context, hash [32]byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, hash)
	return nil
}

func (p *people) EndSessions(_ context.Context, account string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for hash, s := range p.sessions {
		if s.Account == account {
			delete(p.sessions, hash)
		}
	}
	return nil
}

func (p *people) SaveLink(_ context.Context, hash [32]byte, expires time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.link, p.expires = &hash, expires
	return nil
}

func (p *people) TakeLink(_ context.Context, hash [32]byte, at time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == nil || *p.link != hash || !at.Before(p.expires) {
		return models.ErrNotFound
	}
	p.link = nil
	return nil
}

const password = "correct horse battery"

// form posts a form as a browser on our own page does.
func (f *fixture) form(target, body string, cookies ...*http.Cookie) *http.Response {
	r := httptest.NewRequest("POST", target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return f.do(r)
}

func (f *fixture) page(target string, cookies ...*http.Cookie) *http.Response {
	r := httptest.NewRequest("GET", target, nil)
	r.Header.Set("Accept", "text/html")
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return f.do(r)
}

func TestLogin_FirstLinkMakesOneAdministrator(t *testing.T) {
	t.Parallel()
	var p *people
	f := newFixture(t, func(f *fixture) { p = withPeople(f) })
	link, err := f.server.FirstLink(context.Background(), "http://sitemapd.example/")
	if err != nil || !strings.HasPrefix(link, "http://sitemapd.example/first/") {
		t.Fatal(link, err)
	}
	path := strings.TrimPrefix(link, "http://sitemapd.example")
	for range 2 { // looking does not use it up
		wantStatus(t, f.page(path), 200)
	}
	wantStatus(t, f.form(path, "name=ada&password=short"), 422)
	wantStatus(t, f.form("/first/wrong", "name=ada&password="+password), 403)
	r := f.form(path, "name=ada&password="+password)
	wantStatus(t, r, 303)
	cookies := r.Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode || cookies[0].Path != "/" || cookies[0].Secure {
		t.Fatalf("%+v", cookies)
	}
	wantStatus(t, f.page("/", cookies[0]), 200)
	wantStatus(t, f.form(path, "name=eve&password="+password), 403)
	if len(p.accounts) != 1 || strings.Contains(p.accounts["ada"].Password, password) || !strings.HasPrefix(p.accounts["ada"].Password, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("%+v", p.accounts)
	}
	if again, err := f.server.FirstLink(context.Background(), "x"); again != "" || err != nil {
		t.Errorf("%q %v", again, err)
	}
	for hash := range p.sessions {
		if strings.Contains(string(hash[:]), cookies[0].Value) {
			t.Error("the cookie itself is stored")
		}
	}
}

func TestLogin_LinkEndsAfterADay(t *testing.T) {
	t.Parallel()
	clock := now
	f := newFixture(t, func(f *fixture) { withPeople(f); f.deps.Now = func() time.Time { return clock } })
	link, _ := f.server.FirstLink(context.Background(), "")
	clock = clock.Add(24 * time.Hour)
	wantStatus(t, f.form(link, "name=ada&password="+password), 403)
}

// loggedIn is a fixture with an account and its cookie.
func loggedIn(t *testing.T, scopes []string, change ...func(*fixture)) (*fixture, *people, *http.Cookie) {
	t.Helper()
	var p *people
	f := newFixture(t, append([]func(*fixture){func(f *fixture) { p = withPeople(f) }}, change...)...)
	stored, err := handlers.HashPassword(password)
	if err != nil {
		t.Fatal(err)
	}
	p.accounts["ada"] = models.Account{Name: "ada", Password: stored, Scopes: scopes}
	r := f.form("/login", "name=ada&password="+password+"&next=/sites/1/urls?state=stale")
	wantStatus(t, r, 303)
	if to := r.Header.Get("Location"); to != "/sites/1/urls?state=stale" {
		t.Errorf("sent to %q", to)
	}
	return f, p, r.Cookies()[0]
}

func TestLogin_SessionsOpenPagesAndTheAPI(t *testing.T) {
	t.Parallel()
	clock := now
	f, p, cookie := loggedIn(t, []string{handlers.ScopeRun}, func(f *fixture) { f.deps.Now = func() time.Time { return clock } })
	r := f.page("/sites/1/urls?state=stale")
	if r.StatusCode != 303 || r.Header.Get("Location") != "/login?next=%2Fsites%2F1%2Furls%3Fstate%3Dstale" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	wantStatus(t, f.page("/sites/1", cookie), 200)
	wantStatus(t, f.page("/api/v1/sites", cookie), 200)
	wantStatus(t, f.form("/sites/1/runs", "", cookie), 303)
	wantStatus(t, f.form("/sites/1/held", "decision=approve&total=0", cookie), 403)

	foreign := httptest.NewRequest("POST", "/sites/1/runs", nil)
	foreign.AddCookie(cookie)
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	wantStatus(t, f.do(foreign), 403)

	clock = clock.Add(13 * 24 * time.Hour)
	wantStatus(t, f.page("/", cookie), 200) // and that moves its end on
	clock = clock.Add(13 * 24 * time.Hour)
	wantStatus(t, f.page("/", cookie), 200)
	clock = clock.Add(15 * 24 * time.Hour)
	wantStatus(t, f.page("/", cookie), 303)

	_ = p.SaveSession(context.Background(), models.Session{Hash: hashOf("old"), Account: "ada", CreatedAt: clock.Add(-61 * 24 * time.Hour), SeenAt: clock, ExpiresAt: clock.Add(time.Hour)})
	wantStatus(t, f.page("/", &http.Cookie{Name: "sitemapd", Value: "old"}), 303)
	delete(p.accounts, "ada")
	wantStatus(t, f.page("/", cookie), 303)
}

func TestLogin_RefusesAlikeAndSlowsDown(t *testing.T) {
	t.Parallel()
	clock := now
	f, _, _ := loggedIn(t, []string{handlers.ScopeAdmin}, func(f *fixture) { f.deps.Now = func() time.Time { return clock } })
	wrong, unknown := f.form("/login", "name=ada&password=nonsense"), f.form("/login", "name=bob&password=nonsense")
	if wrong.StatusCode != 401 || unknown.StatusCode != 401 {
		t.Fatal(wrong.StatusCode, unknown.StatusCode)
	}
	if a, b := text(t, wrong), text(t, unknown); strings.ReplaceAll(a, "ada", "") != strings.ReplaceAll(b, "bob", "") {
		t.Error("an unknown name is told apart from a wrong password")
	}
	wantStatus(t, f.form("/login", "name=ada&password="+strings.Repeat("x", 600)), 401)
	status := 0
	for range 10 {
		status = f.form("/login", "name=ada&password=nonsense").StatusCode
	}
	if status != 429 {
		t.Errorf("after a dozen attempts: %d", status)
	}
	clock = clock.Add(10 * time.Second)
	wantStatus(t, f.form("/login", "name=ada&password="+password), 303)
	foreign := httptest.NewRequest("POST", "/login", strings.NewReader("name=ada&password="+password))
	foreign.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	foreign.Header.Set("Origin", "https://evil.example")
	wantStatus(t, f.do(foreign), 403)
}

func TestLogin_WayBackStaysHere(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/sites/1": "/sites/1", "": "/", "https://evil.example/": "/", "//evil.example": "/", "/\\evil.example": "/", "javascript:alert(1)": "/", "/a\tb": "/", "sites": "/",
	} {
		f := newFixture(t, func(f *fixture) { withPeople(f) })
		body := text(t, f.page("/login?next="+strings.NewReplacer("\t", "%09", "\\", "%5C").Replace(next)))
		if !strings.Contains(body, `name="next" value="`+want+`"`) {
			t.Errorf("%q does not lead to %q", next, want)
		}
	}
}

func TestLogin_LogoutAndPasswordChangeEndSessions(t *testing.T) {
	t.Parallel()
	f, p, cookie := loggedIn(t, []string{handlers.ScopeAdmin})
	other := f.form("/login", "name=ada&password="+password).Cookies()[0]
	wantStatus(t, f.form("/account", "current=wrong&password=another+long+one", cookie), 401)
	wantStatus(t, f.form("/account", "current="+password+"&password=short", cookie), 422)
	r := f.form("/account", "current="+password+"&password=another+long+one", cookie)
	wantStatus(t, r, 200)
	fresh := r.Cookies()[0]
	for _, old := range []*http.Cookie{cookie, other} {
		wantStatus(t, f.page("/", old), 303)
	}
	wantStatus(t, f.page("/", fresh), 200)
	wantStatus(t, f.form("/logout", "", fresh), 303)
	wantStatus(t, f.page("/", fresh), 303)
	if len(p.sessions) != 0 {
		t.Errorf("%d sessions left", len(p.sessions))
	}
}

func TestLogin_CookieOverHTTPSIsBoundToTheHost(t *testing.T) {
	t.Parallel()
	f, _, _ := loggedIn(t, []string{handlers.ScopeAdmin}, func(f *fixture) {
		f.deps.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} // httptest's peer
	})
	r := httptest.NewRequest("POST", "/login", strings.NewReader("name=ada&password="+password))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Forwarded-Proto", "https")
	cookies := f.do(r).Cookies()
	if len(cookies) != 1 || cookies[0].Name != "__Host-sitemapd" || !cookies[0].Secure {
		t.Errorf("%+v", cookies)
	}
}

func TestAuth_ProxyUserCountsOnlyFromATrustedProxy(t *testing.T) {
	t.Parallel()
	f, _, _ := loggedIn(t, []string{handlers.ScopeAdmin}, func(f *fixture) {
		f.deps.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		f.deps.UserHeader = "X-Remote-User"
	})
	for _, c := range []struct {
		peer, user, path string
		status           int
	}{
		{"10.0.0.9:1", "somebody", "/api/v1/sites", 200},
		{"10.0.0.9:1", "somebody", "/api/v1/tokens", 403},
		{"10.0.0.9:1", "ada", "/api/v1/tokens", 200},
		{"192.0.2.9:1", "ada", "/api/v1/sites", 401},
		{"10.0.0.9:1", "", "/api/v1/sites", 401},
	} {
		r := f.do(from(c.peer, "10.0.0.1:80", "sitemapd.example", "GET", c.path, "X-Remote-User", c.user))
		if r.StatusCode != c.status {
			t.Errorf("%+v: %d", c, r.StatusCode)
		}
	}
}
