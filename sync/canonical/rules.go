package canonical

// Ruleset names the table below. A row keeps the ruleset it was judged under;
// old rows are never judged anew under another one.
const Ruleset = "2026-11"

// StaleCap is the most that a stale relationship is worth when it is read. It
// is never stored, so that the passing of time rewrites no history.
const StaleCap = 0.80

// Status is the state of a relationship.
type Status string

// The statuses of the ontology.
const (
	StatusUnknown     Status = "unknown"
	StatusDeclared    Status = "declared"
	StatusValidated   Status = "validated"
	StatusConflicting Status = "conflicting"
	StatusStale       Status = "stale"
	StatusSuperseded  Status = "superseded"
	StatusInvalid     Status = "invalid"
)

// Rank orders statuses for the case that several hold: the greatest is shown.
func (s Status) Rank() int {
	for i, t := range []Status{StatusUnknown, StatusDeclared, StatusValidated, StatusStale, StatusConflicting, StatusInvalid, StatusSuperseded} {
		if s == t {
			return i
		}
	}
	return -1
}

// Explicit says what the page declares.
type Explicit uint8

// What a page may declare.
const (
	ExplicitNone      Explicit = iota
	ExplicitMalformed          // only something that is no usable URL
	ExplicitOne                // one distinct target
	ExplicitSeveral            // two or more distinct targets
)

// OwnRedirect says where the source's own permanent redirect or immediate
// refresh goes, seen from the target that is judged.
type OwnRedirect uint8

// Where the source's permanent redirect may go. A temporary one moves no preference and is none.
const (
	RedirectNone OwnRedirect = iota
	RedirectSame
	RedirectElsewhere
)

// TargetState is what is known of a target.
type TargetState uint8

// The states of a target.
const (
	TargetUnknown      TargetState = iota // not fetched, or too long ago
	TargetValid                           // 200 without redirect, indexable, declares itself or nothing
	TargetTempFail                        // failed, but not persistently
	TargetError                           // persistently failing
	TargetRedirects                       //
	TargetNoindex                         //
	TargetBlocked                         // robots.txt forbids to look
	TargetSoft404                         // answers 200 to anything
	TargetChain                           // declares another target
	TargetIntoLoop                        // leads into a loop that the source is not part of
	TargetUnverifiable                    // a scheme that cannot be fetched
	TargetNotFound                        // answers 404 or 410, not yet confirmed by a second look a day later
)

// Compared is the outcome of comparing source and target.
type Compared uint8

// The outcomes of a comparison.
const (
	ComparedUnknown Compared = iota
	ComparedMatch
	ComparedMismatch
	ComparedNear // alike, but short of a match (content only)
)

// Agreement says what a signal says of the target that is judged.
type Agreement uint8

// What a signal may say.
const (
	SignalAbsent Agreement = iota
	SignalAgrees
	SignalDiffers
)

// ChainEnd says what is known of the end of an explicit chain from the source.
type ChainEnd uint8

// The ends of a chain.
const (
	ChainNone ChainEnd = iota
	ChainUnvalidated
	ChainValid
)

// Facts are everything that the score of one source-target pair depends on.
type Facts struct {
	Explicit     Explicit
	Self         bool // the declared target is the source itself
	SourceOK     bool // the source answered 2xx without redirect
	Disqualified bool // hreflang, lang, media or type on the declaration
	Redirect     OwnRedirect
	Past         bool // the declaration is an earlier one, and the source now redirects to its target
	Loop         bool // the source is part of a loop
	Flapping     bool // the declared value alternates
	Target       TargetState
	Content      Compared
	Identifier   Compared
	Sitemap      Agreement
	OpenGraph    Agreement
	Schema       Agreement
	Chain        ChainEnd // the pair is source and end of a chain
}

// Outcome is which of the stores a rule's result belongs to.
type Outcome string

// The outcomes. A candidate is never a relationship.
const (
	OutcomeExplicit  Outcome = "explicit"
	OutcomeInferred  Outcome = "inferred"
	OutcomeCandidate Outcome = "candidate"
	OutcomeNone      Outcome = "none"
)

// Rule is one line of the confidence table. The first whose When holds decides.
type Rule struct {
	ID        string
	Evidence  string // in words
	Score     float64
	Outcome   Outcome
	Status    Status // of a relationship; of a candidate "" or conflicting
	Ontology  string // the line of the ontology's confidence model that it keeps to
	When      func(Facts) bool
	OwnChoice bool // the ontology gives no figure; ours
}

// rules is the table, first match wins.
var rules = []Rule{
	{ID: "X1", Evidence: "explicit, malformed, bad scheme or empty", Score: 0, Outcome: OutcomeExplicit, Status: StatusInvalid,
		Ontology: "reject malformed_canonical_URL", When: func(f Facts) bool { return f.Explicit == ExplicitMalformed }},
	{ID: "C1", Evidence: "two or more explicit targets, own permanent redirect or refresh to another URL than declared, or a value that alternates",
		Score: 0.50, Outcome: OutcomeExplicit, Status: StatusConflicting, Ontology: "conflicting_canonical_signals <= 0.50, preserve conflict",
		When: func(f Facts) bool {
			return f.Explicit == ExplicitSeveral || f.Explicit == ExplicitOne && (f.Redirect == RedirectElsewhere || f.Flapping)
		}},
	{ID: "C2", Evidence: "explicit, member of a loop", Score: 0.30, Outcome: OutcomeExplicit, Status: StatusInvalid,
		Ontology: "reject canonical_loop", When: func(f Facts) bool { return one(f) && f.Loop }},
	{ID: "E1", Evidence: "explicit self on its own 200", Score: 0.98, Outcome: OutcomeExplicit, Status: StatusValidated,
		Ontology: "explicit_self_canonical 0.98", When: func(f Facts) bool { return one(f) && f.Self && f.SourceOK && !f.Disqualified }},
	{ID: "C3", Evidence: "explicit, target persistently in error", Score: 0.60, Outcome: OutcomeExplicit, Status: StatusDeclared,
		Ontology: "persistent error target MAY reduce confidence", When: func(f Facts) bool { return one(f) && f.Target == TargetError },
		OwnChoice: true},
	{ID: "E2m", Evidence: "explicit, target answers but its content is another", Score: 0.95, Outcome: OutcomeExplicit, Status: StatusDeclared,
		Ontology: "declared_canonical != verified_equivalence", When: func(f Facts) bool {
			return one(f) && f.Target == TargetValid && f.Content == ComparedMismatch
		}},
	{ID: "E4", Evidence: "explicit, target valid, and the source's own permanent redirect or refresh goes there too", Score: 0.99,
		Outcome: OutcomeExplicit, Status: StatusValidated, Ontology: "explicit_canonical_plus_matching_redirect 0.99",
		When: func(f Facts) bool { return proven(f) && (f.Redirect == RedirectSame || f.Past) }},
	{ID: "E5", Evidence: "explicit, target valid, identifier and content match", Score: 0.99, Outcome: OutcomeExplicit, Status: StatusValidated,
		Ontology: "canonical_plus_identifier_and_content_evidence 0.99", When: func(f Facts) bool {
			return proven(f) && f.Identifier == ComparedMatch && f.Content == ComparedMatch
		}},
	{ID: "E3", Evidence: "explicit, target valid", Score: 0.97, Outcome: OutcomeExplicit, Status: StatusValidated,
		Ontology: "explicit_canonical_with_valid_target 0.97", When: proven},
	{ID: "E2", Evidence: "explicit, anything else: target not looked at, failing for now, redirecting, noindex, blocked or in a chain", Score: 0.95,
		Outcome: OutcomeExplicit, Status: StatusDeclared, Ontology: "inference: explicit WITH confidence >= 0.95", When: one},
	{ID: "C1i", Evidence: "no declaration; the redirect goes elsewhere than the other signals", Score: 0.50, Outcome: OutcomeCandidate,
		Status: StatusConflicting, Ontology: "conflicting_canonical_signals <= 0.50, do_not force merge", When: func(f Facts) bool {
			return f.Redirect == RedirectElsewhere || f.Redirect == RedirectSame && metadataDiffers(f)
		}},
	{ID: "C1m", Evidence: "no declaration; the publisher's own metadata name different URLs", Score: 0.50, Outcome: OutcomeCandidate,
		Status: StatusConflicting, Ontology: "conflicting_canonical_signals <= 0.50, do_not force merge", When: func(f Facts) bool {
			return metadataAgrees(f) && metadataDiffers(f)
		}},
	{ID: "I0", Evidence: "no declaration; content or identifier contradict the other signals", Score: 0.50, Outcome: OutcomeCandidate,
		Status: StatusConflicting, Ontology: "conflicting_canonical_signals <= 0.50", When: func(f Facts) bool {
			return (Groups(f) > 0 || f.Chain != ChainNone) && (f.Content == ComparedMismatch || f.Identifier == ComparedMismatch)
		}},
	{ID: "I1", Evidence: "no declaration to it, but a chain of them whose end is valid", Score: 0.80, Outcome: OutcomeInferred, Status: StatusValidated,
		Ontology: "inferred_canonical_from_multiple_signals <= 0.90", When: func(f Facts) bool { return f.Chain == ChainValid }, OwnChoice: true},
	{ID: "K5", Evidence: "end of a chain of declarations that is not proven", Score: 0.60, Outcome: OutcomeCandidate,
		Ontology: "classify canonical_chain candidate, validate before consolidation", When: func(f Facts) bool { return f.Chain == ChainUnvalidated },
		OwnChoice: true},
	{ID: "I4", Evidence: "no declaration; four independent groups of signals agree", Score: 0.90, Outcome: OutcomeInferred, Status: StatusUnknown,
		Ontology: "inferred_canonical_from_multiple_signals <= 0.90", When: func(f Facts) bool { return inferable(f, 4) }},
	{ID: "I3", Evidence: "no declaration; three independent groups of signals agree", Score: 0.85, Outcome: OutcomeInferred, Status: StatusUnknown,
		Ontology: "inferred_canonical_from_multiple_signals <= 0.90", When: func(f Facts) bool { return inferable(f, 3) }},
	{ID: "I2", Evidence: "no declaration; two independent groups of signals agree", Score: 0.80, Outcome: OutcomeInferred, Status: StatusUnknown,
		Ontology: "inferred_canonical_from_multiple_signals <= 0.90", When: func(f Facts) bool { return inferable(f, 2) }},
	{ID: "K1", Evidence: "sitemap, og:url or schema.org url alone, any number of them", Score: 0.60, Outcome: OutcomeCandidate,
		Ontology: "sitemap_only_signal <= 0.60, og_url_only_signal <= 0.60", When: metadataAgrees},
	{ID: "K2", Evidence: "content alone", Score: 0.65, Outcome: OutcomeCandidate, Ontology: "content_similarity_only <= 0.65",
		When: func(f Facts) bool { return f.Content == ComparedMatch }},
	{ID: "K2n", Evidence: "nearly alike content alone", Score: 0.50, Outcome: OutcomeCandidate, Ontology: "content_similarity_only <= 0.65",
		When: func(f Facts) bool { return f.Content == ComparedNear && Groups(f) == 0 }, OwnChoice: true},
	{ID: "K3", Evidence: "permanent redirect alone", Score: 0.65, Outcome: OutcomeCandidate, Ontology: "canonical != redirect",
		When: func(f Facts) bool { return f.Redirect == RedirectSame }, OwnChoice: true},
	{ID: "K4", Evidence: "identifier alone", Score: 0.60, Outcome: OutcomeCandidate, Ontology: "canonical != sameAs",
		When: func(f Facts) bool { return f.Identifier == ComparedMatch }, OwnChoice: true},
	{ID: "N0", Evidence: "nothing", Score: 0, Outcome: OutcomeNone, Ontology: "expose uncertainty", When: func(Facts) bool { return true }},
}

// Rules is a copy of the confidence table in order of precedence.
func Rules() []Rule { return append([]Rule(nil), rules...) }

// Apply finds the rule that decides on the facts. There always is one.
func Apply(f Facts) Rule {
	for _, r := range rules {
		if r.When(f) {
			return r
		}
	}
	return rules[len(rules)-1]
}

func one(f Facts) bool { return f.Explicit == ExplicitOne }

// proven holds for a declaration of another URL that was found good. A
// declaration that Google ignores for its attributes is never called proven.
func proven(f Facts) bool { return one(f) && !f.Self && f.Target == TargetValid && !f.Disqualified }

func metadataAgrees(f Facts) bool {
	return f.Sitemap == SignalAgrees || f.OpenGraph == SignalAgrees || f.Schema == SignalAgrees
}

func metadataDiffers(f Facts) bool {
	return f.Sitemap == SignalDiffers || f.OpenGraph == SignalDiffers || f.Schema == SignalDiffers
}

// Groups counts the independent groups of signals that name the target.
// Sitemap, og:url and schema.org url come from one generator and are one
// witness; redirect, content and identifier are one each.
func Groups(f Facts) int {
	n := 0
	for _, holds := range []bool{metadataAgrees(f), f.Redirect == RedirectSame, f.Content == ComparedMatch, f.Identifier == ComparedMatch} {
		if holds {
			n++
		}
	}
	return n
}

// inferable holds when at least n groups agree; being four in all, two of them
// always include one that is not the publisher's own metadata.
func inferable(f Facts, n int) bool { return Groups(f) >= n }
