package main

import (
	"net"
	"testing"
)

func TestOpenable_IsAnAddressThatABrowserOpens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ip   net.IP
		want string
	}{{net.IPv6unspecified, "http://localhost:80"}, {net.IPv4zero, "http://localhost:80"}, {net.IPv4(127, 0, 0, 1), "http://127.0.0.1:80"}, {net.IPv6loopback, "http://[::1]:80"}} {
		if got := openable(&net.TCPAddr{IP: c.ip, Port: 80}); got != c.want {
			t.Errorf("%s: %s, want %s", c.ip, got, c.want)
		}
	}
}
