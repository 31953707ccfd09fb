package simulate_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
)

// server answers http and https on one port, so that a site can move from one to the other and keep its authority. It
// outlives histories: one for each worker.
type server struct {
	authority string
	site      atomic.Pointer[sitetest.Site]
	window    atomic.Pointer[window]
}

// certificate is made once; roots holds it.
var certificate = sync.OnceValues(func() (tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "simulate"}, NotBefore: time.Unix(0, 0),
		NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), IsCA: true, BasicConstraintsValid: true}
	for i := range 64 {
		template.IPAddresses = append(template.IPAddresses, net.IPv4(127, 9, 0, byte(i)))
	}
	raw, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, pool
})

// listen serves on an address that is the same in every run where it is free: keys, and with them the order in which
// rows are met, hang on it.
func listen(t testing.TB, worker int) *server {
	l, err := net.Listen("tcp", fmt.Sprintf("127.9.0.%d:8437", 1+worker))
	if err != nil {
		l, err = net.Listen("tcp", fmt.Sprintf("127.9.0.%d:0", 1+worker))
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &server{authority: l.Addr().String()}
	pair, _ := certificate()
	plain, secret := newQueue(l), newQueue(l)
	quiet := log.New(io.Discard, "", 0)
	web := &http.Server{Handler: s, ErrorLog: quiet, ReadHeaderTimeout: time.Minute}
	safe := &http.Server{Handler: s, ErrorLog: quiet, ReadHeaderTimeout: time.Minute}
	go func() { _ = web.Serve(plain) }()
	go func() {
		_ = safe.Serve(tls.NewListener(secret, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}))
	}()
	go sort(l, plain, secret)
	t.Cleanup(func() { _, _, _ = web.Close(), safe.Close(), l.Close() })
	return s
}

// ServeHTTP sends clients of a site that moved to https there, as WordPress does, and back.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	site := s.site.Load()
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	if want := strings.SplitN(site.URL(), ":", 2)[0]; want != scheme {
		w.Header().Set("Location", want+"://"+s.authority+r.URL.RequestURI())
		w.WriteHeader(http.StatusMovedPermanently)
		return
	}
	if v := s.window.Load(); v != nil && v.kind != 0 && v.serves(w, r, site.URL()) {
		return
	}
	site.ServeHTTP(w, r)
}

// sort gives each connection to the server whose language its first byte speaks.
func sort(l net.Listener, plain, secret *queue) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			p := &peeked{Conn: c, r: bufio.NewReader(c)}
			first, err := p.r.Peek(1)
			switch {
			case err != nil:
				_ = c.Close()
			case first[0] == 0x16:
				secret.put(p)
			default:
				plain.put(p)
			}
		}()
	}
}

type peeked struct {
	net.Conn
	r *bufio.Reader
}

func (p *peeked) Read(b []byte) (int, error) { return p.r.Read(b) }

// queue is a listener that is handed its connections.
type queue struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newQueue(l net.Listener) *queue {
	return &queue{addr: l.Addr(), conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (q *queue) put(c net.Conn) {
	select {
	case q.conns <- c:
	case <-q.closed:
		_ = c.Close()
	}
}

func (q *queue) Accept() (net.Conn, error) {
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.closed:
		return nil, net.ErrClosed
	}
}

func (q *queue) Close() error {
	q.once.Do(func() { close(q.closed) })
	return nil
}

func (q *queue) Addr() net.Addr { return q.addr }
