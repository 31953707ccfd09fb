package fetch

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// guards holds two ways out. What a connection may reach is decided in the
// dialer's Control, on the address that the name resolved to just then, so
// neither DNS nor a redirect gets round it. They are two because a port is
// allowed either for the request (then any permitted address will do) or only
// because the address is in AllowPrivate, and a kept connection of one sort must
// not serve the other.
type guards struct {
	open, private *http.Transport
}

func newGuards(o Options) guards {
	var v4, v6 []netip.Prefix
	for _, p := range o.AllowPrivate {
		if p = p.Masked(); p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	safe := ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	private := func(network, address string, conn syscall.RawConn) error {
		if err := safe.Safe(network, address, conn); err != nil {
			return err
		}
		target, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: %w", ssrf.ErrInvalidHostPort, err)
		}
		if !slices.ContainsFunc(o.AllowPrivate, func(p netip.Prefix) bool { return p.Contains(target.Addr()) }) {
			return fmt.Errorf("%w: %d", ssrf.ErrProhibitedPort, target.Port())
		}
		return nil
	}
	return guards{open: newTransport(o, safe.Safe), private: newTransport(o, private)}
}

func newTransport(o Options, control func(network, address string, conn syscall.RawConn) error) *http.Transport {
	dialer := &net.Dialer{
		Timeout: o.DialTimeout, KeepAlive: 30 * time.Second,
		Resolver: o.Resolver, Control: control,
	}
	return &http.Transport{
		Proxy:                  nil, // the guard would see the proxy alone
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		TLSHandshakeTimeout:    o.DialTimeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: o.MaxHeader,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    max(2, o.PerHost),
		IdleConnTimeout:        30 * time.Second,
		ReadBufferSize:         32 << 10,
	}
}

// transport chooses the way out for one hop.
func (c *Client) transport(j *job, u *url.URL) http.RoundTripper {
	port := portOf(u)
	if slices.Contains(c.opt.Ports, port) || port == j.AllowPort || (j.originPort != 0 && port == j.originPort) {
		return c.guards.open
	}
	return c.guards.private
}

func (g guards) dialWith(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	g.open.DialContext, g.private.DialContext = dial, dial
}

func (g guards) close() {
	g.open.CloseIdleConnections()
	g.private.CloseIdleConnections()
}
