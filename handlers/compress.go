package handlers

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/labstack/echo/v4"
)

// compressible are the media types that get smaller. Event streams are not among them: they are sent as they come.
var compressible = []string{
	mediaJSON, mediaProblem, mediaNDJSON, mediaJSONLD, "text/csv", "application/openapi+json", "application/atom+xml",
	"text/html", "text/css", "text/javascript", "image/svg+xml",
}

// tagSuffix tells the compressed form of an answer from the plain one, which has other bytes.
const tagSuffix = "-gzip"

const compressFrom = 1024 // bytes; smaller answers fit one packet anyway

// compressed sends answers to GET with gzip to clients that take it.
func compressed() (echo.MiddlewareFunc, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.ContentTypes(compressible), gzhttp.MinSize(compressFrom), gzhttp.SuffixETag(tagSuffix))
	if err != nil {
		return nil, fmt.Errorf("prepare compression: %w", err)
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if c.Request().Method != http.MethodGet || !strings.Contains(c.Request().Header.Get("Accept-Encoding"), "gzip") {
				return next(c)
			}
			response := c.Response()
			plain := response.Writer
			defer func() { response.Writer = plain }()
			wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				response.Writer = w
				// An error has to be written before the compressor ends.
				if err := next(c); err != nil {
					c.Error(err)
				}
			})).ServeHTTP(plain, c.Request())
			return nil
		}
	}, nil
}
