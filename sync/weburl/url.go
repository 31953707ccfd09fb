package weburl

import "crypto/sha256"

// MaxLength is the longest text, in bytes, that is taken for a URL (the protocol asks for less than 2,048).
const MaxLength = 8192

// Key names a page in the database: the first 16 bytes of SHA-256 over the identity key.
type Key [16]byte

// KeyOf hashes an identity key as Parse gives it.
func KeyOf(identity []byte) Key {
	sum := sha256.Sum256(identity)
	return Key(sum[:16])
}

// URL is one parsed http or https URL. Its slices alias the text that was parsed, or the parser's scratch buffer, and
// must not be written to; Clone makes them independent.
type URL struct {
	// Wire is the text as published, white space around it removed, made absolute, and percent-encoded only where the
	// published text is no valid URI. It is what is fetched and shown. A fragment stays.
	Wire []byte
	// Identity is the identity key; the fields below are parts of it.
	Identity []byte
	Scheme   []byte // "http" or "https"
	Host     []byte // lower case, punycode, without port; an IPv6 address keeps its brackets
	Port     []byte // empty for the scheme's default port
	Path     []byte // begins with "/"
	Query    []byte // without "?", see HasQuery
	HasQuery bool
	Notes    Note
}

// Note is a set of peculiarities of a text that was accepted all the same.
type Note uint16

// The peculiarities of an accepted text.
const (
	NoteRelative      Note = 1 << iota // resolved against the base
	NoteSchemeMissing                  // "example.org/page" or "//example.org/page": the base's scheme was taken
	NoteEscaped                        // characters that no URI may hold were percent-encoded (blanks, non-ASCII, ...)
	NoteIDN                            // a host outside ASCII was turned into punycode
	NoteFragment                       // carries a fragment, which names no page of its own
	NoteUserinfo                       // carries a user name or password
	NoteTrimmed                        // tabs, line ends or control characters inside the text were removed
	NoteSlashes                        // back slashes or a wrong number of slashes after the scheme
	NoteBadPercent                     // a "%" that two hex digits do not follow
	NoteCase                           // scheme or host are not in lower case
	NoteDots                           // holds "." or ".." segments
)

// Problem says why a text is no URL of a page; None means that it is one.
type Problem uint8

// The reasons for refusing a text.
const (
	None       Problem = iota
	Empty              // nothing but white space
	TooLong            // longer than MaxLength, as published or percent-encoded
	BadScheme          // a scheme other than http and https
	NoHost             // no host, or a relative text without a base
	BadHost            // a host that no name or address can be
	BadPort            // a port that is no number up to 65535
	BadContent         // text that cannot be meant as a URL (markup, several lines of prose)
)

var problemText = [...]string{
	None: "no problem", Empty: "the text is empty", TooLong: "longer than 8192 bytes",
	BadScheme: "the scheme is neither http nor https", NoHost: "there is no host", BadHost: "the host is not valid",
	BadPort: "the port is not valid", BadContent: "the text is not a URL",
}

// String gives the reason in words.
func (p Problem) String() string { return problemText[p] }

// Clone returns a copy that shares no memory with the parsed text.
func (u URL) Clone() URL {
	wire := append([]byte(nil), u.Wire...)
	out, problem := Parse(nil, wire)
	if problem != None { // cannot happen: a wire form parses to itself
		return u
	}
	out.Notes = u.Notes
	return out
}

// String returns the wire form.
func (u URL) String() string { return string(u.Wire) }

// Key is KeyOf of the identity.
func (u URL) Key() Key { return KeyOf(u.Identity) }

// Authority returns host and, when it is not the scheme's default, port, as they stand in the identity.
func (u URL) Authority() []byte {
	if u.Host == nil {
		return nil
	}
	start := len(u.Scheme) + len("://")
	end := start + len(u.Host)
	if len(u.Port) > 0 {
		end += 1 + len(u.Port)
	}
	return u.Identity[start:end:end]
}

// Origin returns scheme, host and port as they stand in the identity, without a slash at the end.
func (u URL) Origin() []byte {
	end := len(u.Scheme) + len("://") + len(u.Authority())
	return u.Identity[:end:end]
}

// Directory returns the identity up to and with the last slash of the path: the place below which a sitemap may list
// pages according to the protocol.
func (u URL) Directory() []byte {
	end := len(u.Origin()) + len(u.Path)
	for end > 0 && u.Identity[end-1] != '/' {
		end--
	}
	return u.Identity[:end:end]
}
