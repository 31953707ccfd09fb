package weburl

import (
	"bytes"

	"golang.org/x/net/publicsuffix"
)

// Scope says how far the place of one URL is from the place of another.
type Scope uint8

// The scopes, from near to far.
const (
	SameURL    Scope = iota // equal identity keys
	SameOrigin              // equal scheme, host and port
	SameHost                // equal host; scheme or port differ
	SameSite                // another host under one registrable domain
	OtherSite
)

var scopeText = [...]string{"same_url", "same_origin", "same_host", "same_site", "other_site"}

// String gives the scope's name as it is stored and shown.
func (s Scope) String() string { return scopeText[s] }

// ScopeOf compares the places of two URLs.
func ScopeOf(a, b URL) Scope {
	switch {
	case bytes.Equal(a.Identity, b.Identity):
		return SameURL
	case bytes.Equal(a.Host, b.Host) && bytes.Equal(a.Scheme, b.Scheme) && bytes.Equal(a.Port, b.Port):
		return SameOrigin
	case bytes.Equal(a.Host, b.Host):
		return SameHost
	case Site(a.Host) == Site(b.Host):
		return SameSite
	}
	return OtherSite
}

// Site returns the registrable domain of a host as an identity holds it ("example.co.uk" of "www.example.co.uk"), or
// the host itself for an address, a single label or a public suffix.
func Site(host []byte) string {
	h := string(bytes.TrimSuffix(host, []byte(".")))
	if len(h) == 0 || h[0] == '[' || !nameLabel([]byte(h)) {
		return h
	}
	if site, err := publicsuffix.EffectiveTLDPlusOne(h); err == nil {
		return site
	}
	return h
}

// Variant is the set of parts in which two URLs differ, none of which the identity key folds. Zero means equal.
type Variant uint16

// The parts in which two URLs may differ. The names ending in "only" in comments say: equal once that is folded.
const (
	VariantScheme   Variant = 1 << iota // http against https
	VariantWWW                          // the hosts are equal but for a leading "www."
	VariantHost                         // the hosts differ in any other way
	VariantPort                         //
	VariantSlash                        // the paths are equal but for one trailing slash
	VariantCase                         // the paths are equal when letters' case is ignored
	VariantPath                         // the paths differ in any other way
	VariantOrder                        // the queries hold the same parameters in another order
	VariantQuery                        // the queries differ in any other way
	VariantFragment                     // the wire forms differ in the fragment
)

// Variants compares two URLs part by part.
func Variants(a, b URL) Variant {
	var v Variant
	if !bytes.Equal(a.Scheme, b.Scheme) {
		v |= VariantScheme
	}
	if !bytes.Equal(a.Host, b.Host) {
		if bytes.Equal(trimWWW(a.Host), trimWWW(b.Host)) {
			v |= VariantWWW
		} else {
			v |= VariantHost
		}
	}
	if !bytes.Equal(a.Port, b.Port) {
		v |= VariantPort
	}
	v |= pathVariant(a.Path, b.Path)
	if a.HasQuery != b.HasQuery || !bytes.Equal(a.Query, b.Query) {
		if a.HasQuery && b.HasQuery && sameParameters(a.Query, b.Query) {
			v |= VariantOrder
		} else {
			v |= VariantQuery
		}
	}
	if !bytes.Equal(fragment(a.Wire), fragment(b.Wire)) {
		v |= VariantFragment
	}
	return v
}

func pathVariant(a, b []byte) Variant {
	if bytes.Equal(a, b) {
		return 0
	}
	var v Variant
	ta, tb := bytes.TrimSuffix(a, []byte("/")), bytes.TrimSuffix(b, []byte("/"))
	if len(a)-len(ta) != len(b)-len(tb) {
		v |= VariantSlash
	}
	switch {
	case bytes.Equal(ta, tb):
	case bytes.EqualFold(ta, tb):
		v |= VariantCase
	default:
		return VariantPath
	}
	return v
}

func sameParameters(a, b []byte) bool {
	pa, pb := bytes.Split(a, []byte("&")), bytes.Split(b, []byte("&"))
	if len(pa) != len(pb) {
		return false
	}
	seen := make(map[string]int, len(pa))
	for _, p := range pa {
		seen[string(p)]++
	}
	for _, p := range pb {
		if seen[string(p)]--; seen[string(p)] < 0 {
			return false
		}
	}
	return true
}

func fragment(wire []byte) []byte {
	if i := bytes.IndexByte(wire, '#'); i >= 0 {
		return wire[i+1:]
	}
	return nil
}
