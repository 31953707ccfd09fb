package weburl

import (
	"bytes"
	"net/netip"
	"strconv"

	"golang.org/x/net/idna"
)

// profile maps hosts the way browsers do (UTS 46, non-transitional, without the checks that reject names in use).
var profile = idna.New(
	idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false),
	idna.CheckHyphens(false), idna.VerifyDNSLength(false), idna.CheckJoiners(true), idna.BidiRule(),
)

// normalHost writes a published host in lower case, punycode and decoded; false means that it can be no host.
func (p *Parser) normalHost(host []byte) ([]byte, Note, bool) {
	var notes Note
	if host[0] == '[' {
		if host[len(host)-1] != ']' {
			return nil, 0, false
		}
		addr, err := netip.ParseAddr(string(host[1 : len(host)-1]))
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return nil, 0, false
		}
		return append(addr.AppendTo(append(p.host[:0], '[')), ']'), 0, true
	}
	h := p.host[:0]
	for i := 0; i < len(host); i++ {
		c := host[i]
		if c == '%' && i+2 < len(host) && isHex(host[i+1]) && isHex(host[i+2]) {
			c = unhex(host[i+1])<<4 | unhex(host[i+2])
			i += 2
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
			notes |= NoteCase
		}
		h = append(h, c)
	}
	if hasNonASCII(h) || bytes.Contains(h, []byte("xn--")) {
		ascii, err := profile.ToASCII(string(h))
		if err != nil && hasNonASCII(h) {
			return nil, notes, false
		}
		if err == nil {
			if hasNonASCII(h) {
				notes |= NoteIDN
			}
			h = append(h[:0], ascii...)
		}
	}
	p.host = h
	if len(h) == 0 || span(h, inHost) != len(h) {
		// The standard allows a few more characters in a host; none of them can be looked up.
		return nil, notes, false
	}
	if trimmed := bytes.TrimSuffix(h, []byte(".")); !nameLabel(trimmed) {
		v4, numeric, ok := ipv4(trimmed)
		if numeric && !ok {
			return nil, notes, false
		}
		if ok {
			h = v4.AppendTo(h[:0])
			p.host = h
		}
	}
	return h, notes, true
}

// ipv4 reads a host that ends in a number the way browsers do: one to four parts, decimal, octal or hexadecimal.
// numeric tells whether the host must be an address at all.
func ipv4(host []byte) (addr netip.Addr, numeric, ok bool) {
	labels := bytes.Split(host, []byte("."))
	if _, err := number(labels[len(labels)-1]); err != nil {
		return addr, false, false
	}
	if len(labels) > 4 {
		return addr, true, false
	}
	var sum uint64
	for i, label := range labels {
		n, err := number(label)
		if err != nil {
			return addr, true, false
		}
		if i < len(labels)-1 {
			if n > 255 {
				return addr, true, false
			}
			sum |= n << (24 - 8*i)
			continue
		}
		if n >= 1<<(8*(5-len(labels))) {
			return addr, true, false
		}
		sum |= n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true, true
}

func number(label []byte) (uint64, error) {
	base := 10
	switch {
	case len(label) > 1 && label[0] == '0' && label[1]|0x20 == 'x':
		if label, base = label[2:], 16; len(label) == 0 {
			return 0, nil
		}
	case len(label) > 1 && label[0] == '0':
		label, base = label[1:], 8
	}
	return strconv.ParseUint(string(label), base, 33)
}
