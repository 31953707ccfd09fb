package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

const secretPrefix = "whsec_"

// Signature signs a body as Standard Webhooks 1.0 say: HMAC-SHA256 over "id.timestamp.body", one signature for each
// key that is valid at the moment, with a blank between.
func Signature(keys []models.ChannelKey, id string, at time.Time, body []byte) string {
	var all []string
	for _, key := range keys {
		if at.Before(key.NotBefore) || !key.NotAfter.IsZero() && !at.Before(key.NotAfter) {
			continue
		}
		secret, err := secretBytes(key.Secret)
		if err != nil {
			continue
		}
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(all, " ")
}

func secretBytes(secret string) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
}

// CheckSecret refuses a secret that somebody chose and that is none: "whsec_" and base64 of 24 to 64 bytes.
func CheckSecret(secret string) error {
	raw, err := secretBytes(secret)
	if err != nil || len(raw) < 24 || len(raw) > 64 {
		return models.Invalid("secret", "leave it out to have one made", "want %s and base64 of 24 to 64 bytes", secretPrefix)
	}
	return nil
}
