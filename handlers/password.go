package handlers

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"

	"github.com/sitemapd/sitemapd/models"
)

// Cost of one password check: OWASP's second choice for argon2id, 19 MiB, two passes, one lane.
const (
	argonMemory = 19 << 10 // KiB
	argonTime   = 2
	argonLanes  = 1
	saltLength  = 16
	hashLength  = 32
)

// Bounds of a password. The upper one keeps the check's cost fixed.
const (
	MinPassword = 12
	maxPassword = 500
)

// passwordChecks bounds how many checks use their memory at once.
var passwordChecks = make(chan struct{}, 2)

// HashPassword makes the stored form of a password: argon2id in PHC form.
func HashPassword(password string) (string, error) {
	if len(password) < MinPassword || len(password) > maxPassword {
		return "", models.Invalid("password", "a few words make a good one", "want %d to %d bytes", MinPassword, maxPassword)
	}
	salt := make([]byte, saltLength)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("make salt: %w", err)
	}
	sum := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonLanes, hashLength)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonLanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum)), nil
}

// checkPassword compares in constant time. A stored form that is not readable matches nothing, at the usual cost.
func checkPassword(ctx context.Context, stored, password string) bool {
	select {
	case passwordChecks <- struct{}{}:
		defer func() { <-passwordChecks }()
	case <-ctx.Done():
		return false
	}
	p, ok := parsePHC(stored)
	if len(password) > maxPassword {
		password, ok = "", false
	}
	sum := argon2.IDKey([]byte(password), p.salt, p.time, p.memory, p.lanes, uint32(len(p.sum)))
	return subtle.ConstantTimeCompare(sum, p.sum) == 1 && ok
}

type phc struct {
	memory, time uint32
	lanes        uint8
	salt, sum    []byte
}

func parsePHC(text string) (phc, bool) {
	decoy := phc{memory: argonMemory, time: argonTime, lanes: argonLanes, salt: make([]byte, saltLength), sum: make([]byte, hashLength)}
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return decoy, false
	}
	var p phc
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.time, &p.lanes); n != 3 || err != nil {
		return decoy, false
	}
	var err1, err2 error
	p.salt, err1 = base64.RawStdEncoding.DecodeString(parts[4])
	p.sum, err2 = base64.RawStdEncoding.DecodeString(parts[5])
	// What an attacker with write access to the table could put there must not cost the daemon its memory.
	if err1 != nil || err2 != nil || p.memory > 256<<10 || p.memory < 8 || p.time < 1 || p.time > 10 || p.lanes < 1 || p.lanes > 8 || len(p.sum) != hashLength || len(p.salt) < 8 {
		return decoy, false
	}
	return p, true
}
