package canonical

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// HashVersion names what SemanticHash covers.
const HashVersion = "canonical-url-ontology/1.0"

// SemanticHash is the same for two sets of relationships that say the same,
// whatever their order and however their URLs were spelled: targets and
// sources enter by identity key, which keeps query and path and normalises
// scheme and host only; instants enter as observed; rules by id and ruleset,
// in the table's order of precedence.
func SemanticHash(relationships []Relationship) [32]byte {
	lines := make([]string, 0, len(relationships))
	for i := range relationships {
		r := &relationships[i]
		lines = append(lines, fmt.Sprintf("%04d %s %s %s %s %s %s %s %s %s %s %s %s",
			ruleRank(r.Rule), r.SourceKey, r.TargetKey, r.Method, r.Scope, r.Status, r.Reason, r.Rule, r.Ruleset,
			strconv.FormatFloat(r.Score, 'f', 2, 64), instant(r.ValidFrom), instant(r.ValidUntil), r.EndReason))
	}
	slices.Sort(lines)
	h := sha256.New()
	_, _ = io.WriteString(h, HashVersion+"\n"+rulesDigest()+"\n")
	for _, l := range lines {
		_, _ = io.WriteString(h, l+"\n")
	}
	return [32]byte(h.Sum(nil))
}

// rulesDigest stands for the declaration, validation, conflict and confidence
// rules under which the relationships were judged.
func rulesDigest() string {
	h := sha256.New()
	_, _ = io.WriteString(h, Ruleset+"\n"+ParserVersion+"\n")
	for _, r := range rules {
		_, _ = fmt.Fprintf(h, "%s %.2f %s %s\n", r.ID, r.Score, r.Outcome, r.Status)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func ruleRank(id string) int {
	for i, r := range rules {
		if r.ID == id {
			return i
		}
	}
	return len(rules)
}

// instant writes an instant to the microsecond, as the database keeps it.
func instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Truncate(time.Microsecond).Format("2006-01-02T15:04:05.000000Z")
}
