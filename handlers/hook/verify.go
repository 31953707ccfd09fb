package hook

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Dialects, as the delivery log and models.Trigger name them.
const (
	StandardWebhooks = "standard_webhooks"
	GitHub           = "github"
	WooCommerce      = "woocommerce"
	WPWebhooks       = "wp_webhooks"
	WordPressCom     = "wordpress_com"
	Token            = "token"
	XMLRPC           = "xmlrpc"
	IndexNow         = "indexnow"
	WebSub           = "websub"
	None             = "none"
)

// Causes for which a request is not authentic. They go to the log, never into the answer.
const (
	CauseUnsigned  = "unsigned"
	CauseSignature = "bad_signature"
	CauseHeaders   = "bad_headers"
	CauseTimestamp = "stale_timestamp"
)

// Tolerance is how far a signed timestamp may lie from our clock, either way (Standard Webhooks libraries use the same).
const Tolerance = 300 * time.Second

const (
	signatureLength = 32 // bytes of HMAC-SHA256
	maxSignatures   = 8  // of a list, during the sender's own rotation
	maxIDLength     = 256
)

// Verdict says whether a signed request is authentic.
type Verdict struct {
	Dialect string
	Key     string // id of the key that matched
	ID      string // the sender's own id of the delivery, "" when the dialect has none or it means nothing
	Cause   string // why it is not authentic; "" when it is
}

// Authentic reports whether one of the keys signed the request.
func (v Verdict) Authentic() bool { return v.Cause == "" }

// Verify checks a request's signature. It computes a MAC for each of a fixed number of keys whatever
// the request looks like, so that its time tells nothing about keys or endpoint.
func Verify(header http.Header, body []byte, keys []Key, now time.Time) Verdict {
	scheme := detect(header)
	live := make([]Key, 0, maxKeys)
	for _, key := range keys {
		if key.Live(now) {
			live = append(live, key)
		}
	}
	v := Verdict{Dialect: scheme.dialect, ID: scheme.id, Cause: CauseSignature}
	for _, key := range padded(live) {
		secret := key.text
		if scheme.standard {
			secret = key.raw
		}
		sum := key.mac(secret, scheme.signed, body)
		matched := false
		for _, signature := range scheme.signatures {
			if hmac.Equal(sum, signature) {
				matched = true
			}
		}
		if matched && key.Live(now) {
			v.Key, v.Cause = key.ID, ""
		}
	}
	switch {
	case scheme.cause != "":
		v.Key, v.Cause = "", scheme.cause
	case v.Cause == "" && scheme.standard && tooFar(scheme.timestamp, now):
		v.Key, v.Cause = "", CauseTimestamp
	}
	return v
}

// scheme is how a request says that it is signed.
type scheme struct {
	dialect    string
	standard   bool     // key in raw form, signed text starts with id and timestamp
	signed     []byte   // what is signed before the body
	signatures [][]byte // candidates, each of full length
	id         string
	timestamp  int64
	cause      string // set when the headers alone rule the request out
}

func detect(h http.Header) scheme {
	switch {
	case h.Get("Webhook-Signature") != "":
		return standardScheme(h, "Webhook-")
	case h.Get("Svix-Signature") != "":
		return standardScheme(h, "Svix-")
	case h.Get("X-Hub-Signature-256") != "":
		return bodyScheme(GitHub, h, "X-Hub-Signature-256", fromHex, h.Get("X-GitHub-Delivery"))
	case h.Get("X-Wc-Webhook-Signature") != "":
		return bodyScheme(WooCommerce, h, "X-Wc-Webhook-Signature", fromBase64, h.Get("X-Wc-Webhook-Delivery-Id"))
	case h.Get("X-Wp-Webhook-Signature") != "":
		return bodyScheme(WPWebhooks, h, "X-Wp-Webhook-Signature", fromBase64, "")
	case h.Get("X-Hub-Signature") != "":
		// WebSub content distribution (W3C 2018, section 8): any method; ours is asked for with sha256.
		return bodyScheme(WebSub, h, "X-Hub-Signature", fromHex, "")
	}
	return scheme{dialect: None, cause: CauseUnsigned}
}

// standardScheme reads Standard Webhooks 1.0 headers, or Svix' older names for them.
func standardScheme(h http.Header, prefix string) scheme {
	s := scheme{dialect: StandardWebhooks, standard: true}
	id, ok1 := single(h, prefix+"Id")
	stamp, ok2 := single(h, prefix+"Timestamp")
	list, ok3 := single(h, prefix+"Signature")
	if !ok1 || !ok2 || !ok3 || !plainID(id) || !digits(stamp) {
		s.cause = CauseHeaders
		return s
	}
	s.id = id
	s.timestamp, _ = strconv.ParseInt(stamp, 10, 64)
	s.signed = []byte(id + "." + stamp + ".")
	for i, part := range strings.Fields(list) {
		if i == maxSignatures {
			break
		}
		// v1a (ed25519) is somebody else's key pair; only v1 is ours.
		if text, ok := strings.CutPrefix(part, "v1,"); ok {
			if signature, ok := fromBase64(text); ok {
				s.signatures = append(s.signatures, signature)
			}
		}
	}
	return s
}

// bodyScheme is a signature over the body alone.
func bodyScheme(dialect string, h http.Header, name string, decode func(string) ([]byte, bool), id string) scheme {
	s := scheme{dialect: dialect}
	text, ok := single(h, name)
	if !ok {
		s.cause = CauseHeaders
		return s
	}
	if len(id) <= maxIDLength {
		s.id = id
	}
	if signature, ok := decode(text); ok {
		s.signatures = [][]byte{signature}
	}
	return s
}

// single is the value of a header that must be there exactly once: of two, one is not what was signed.
func single(h http.Header, name string) (string, bool) {
	values := h.Values(name)
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}

func fromHex(text string) ([]byte, bool) {
	text, ok := strings.CutPrefix(text, "sha256=")
	if !ok || len(text) != 2*signatureLength {
		return nil, false
	}
	signature, err := hex.DecodeString(text)
	return signature, err == nil
}

func fromBase64(text string) ([]byte, bool) {
	if len(text) != base64.StdEncoding.EncodedLen(signatureLength) {
		return nil, false
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(text)
	return signature, err == nil && len(signature) == signatureLength
}

// plainID keeps the signed text unambiguous: an id with a dot could move the border to the timestamp.
func plainID(id string) bool {
	if id == "" || len(id) > maxIDLength {
		return false
	}
	for _, c := range []byte(id) {
		if c <= ' ' || c > '~' || c == '.' {
			return false
		}
	}
	return true
}

func digits(text string) bool {
	if text == "" || len(text) > 12 {
		return false
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func tooFar(timestamp int64, now time.Time) bool {
	off := now.Unix() - timestamp
	limit := int64(Tolerance / time.Second)
	return off > limit || off < -limit
}
