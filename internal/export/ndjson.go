package export

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/sitemapd/sitemapd/models"
)

// ndjsonEncoder writes the contract's *Page* lines, the same that the API and `urls -o ndjson` give.
type ndjsonEncoder struct {
	w *bufio.Writer
	e *json.Encoder
}

func newNDJSON(w io.Writer, _ Options) (Encoder, error) {
	e := &ndjsonEncoder{w: bufio.NewWriterSize(w, 64<<10)}
	e.e = json.NewEncoder(e.w)
	e.e.SetEscapeHTML(false)
	return e, nil
}

func (e *ndjsonEncoder) Write(p *models.Page) error { return e.e.Encode(p) }

func (e *ndjsonEncoder) Close() error { return e.w.Flush() }
