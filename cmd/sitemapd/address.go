package main

import "net"

// openable is where a person on this machine finds a listener: one on every address is at none that a browser can open.
func openable(at net.Addr) string {
	if tcp, ok := at.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		_, port, err := net.SplitHostPort(at.String())
		if err == nil {
			return "http://localhost:" + port
		}
	}
	return "http://" + at.String()
}
