package models

import (
	"encoding/hex"
	"fmt"
)

// Open is the to_run of a row that is still current: the largest run number there is.
const Open int64 = 1<<63 - 1

// Key names a URL by the first 16 bytes of SHA-256 over its identity key
// (sync/weburl). It is stored as BINARY(16), so no collation ever compares URLs.
type Key [16]byte

// String gives 32 lower-case hex digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// ParseKey reads what String wrote.
func ParseKey(s string) (Key, error) {
	var k Key
	if len(s) != 2*len(k) {
		return k, fmt.Errorf("key %q: want %d hex digits", s, 2*len(k))
	}
	if _, err := hex.Decode(k[:], []byte(s)); err != nil {
		return k, fmt.Errorf("key %q: %w", s, err)
	}
	return k, nil
}

// Fingerprint is 16 bytes over the canonical form of one declaration
// (docs/semantic-hash.md): equal fingerprints say the same of the same page.
type Fingerprint [16]byte
