package fetch_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/sitemapd/sitemapd/sync/fetch"
)

// names answers DNS questions from a table, in process. A name with several
// addresses gives another one at each question; unknown names do not exist.
type names struct {
	mu    sync.Mutex
	table map[string][]string
	asked map[string]int
}

func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe() // not a packet connection: framed as over TCP
		go n.serve(server)
		return client, nil
	}}
}

func (n *names) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		question := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		answer, err := n.answer(question)
		if err != nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

func (n *names) answer(text []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(text); err != nil || len(m.Questions) != 1 {
		return nil, errors.New("bad question")
	}
	q := m.Questions[0]
	m.Response, m.Additionals, m.RCode = true, nil, dnsmessage.RCodeNameError
	if ip, ok := n.lookup(strings.TrimSuffix(q.Name.String(), "."), q.Type); ok {
		m.RCode = dnsmessage.RCodeSuccess
		head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		switch {
		case ip.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: ip.As4()}}}
		case ip.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}}}
		}
	}
	return m.Pack()
}

func (n *names) lookup(name string, kind dnsmessage.Type) (netip.Addr, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.table[name]
	if len(list) == 0 {
		return netip.Addr{}, false
	}
	if n.asked == nil {
		n.asked = map[string]int{}
	}
	at := min(n.asked[name], len(list)-1)
	if kind == dnsmessage.TypeA {
		n.asked[name]++
	}
	return netip.MustParseAddr(list[at]), true
}

// memory is a network without sockets, for tests whose time synctest moves: every
// host and port leads to the same handler.
type memory struct{ conns chan net.Conn }

func (m memory) Accept() (net.Conn, error) {
	conn, ok := <-m.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (m memory) Close() error   { return nil }
func (m memory) Addr() net.Addr { return &net.TCPAddr{} }

// inMemory gives a client of that network. It must be called inside the bubble;
// the returned function ends its goroutines.
func inMemory(t *testing.T, o fetch.Options, h http.HandlerFunc) (*fetch.Client, func()) {
	t.Helper()
	m := memory{conns: make(chan net.Conn)}
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(m) }()
	c := fetch.New(o)
	c.DialWith(func(ctx context.Context, _, _ string) (net.Conn, error) {
		client, accepted := net.Pipe()
		select {
		case m.conns <- accepted:
			return client, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	return c, func() {
		c.Close()
		close(m.conns)
		_ = server.Close()
		time.Sleep(time.Hour) // in the bubble: handlers that sleep wake and end
	}
}
