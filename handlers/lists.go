package handlers

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
)

// Forms in which a list comes.
const (
	formatJSON   = "json"
	formatNDJSON = "ndjson"
	formatCSV    = "csv"

	mediaJSON   = "application/json"
	mediaNDJSON = "application/x-ndjson"
	mediaCSV    = "text/csv; charset=utf-8"
)

// FormatInput chooses the form of a list.
type FormatInput struct {
	Format string `query:"format" enum:"json,ndjson,csv" doc:"Form of the answer; without it the Accept header chooses, JSON by default."`
	Accept string `header:"Accept" hidden:"true"`
}

func (f FormatInput) chosen() string {
	switch {
	case f.Format != "":
		return f.Format
	case strings.HasPrefix(f.Accept, mediaNDJSON):
		return formatNDJSON
	case strings.HasPrefix(f.Accept, "text/csv"):
		return formatCSV
	}
	return formatJSON
}

// rows reads a list row by row, in order, until emit fails.
type rows[T any] func(ctx context.Context, emit func(*T) error) error

// streamed answers with all rows as they come, as NDJSON or CSV. An error before the first row is
// a problem; after it the connection is cut, so that half a list never looks like a whole one.
func streamed[T any](s *Server, format string, columns []column[T], read rows[T]) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		c := humaecho.Unwrap(hc)
		ctx := c.Request().Context()
		w := c.Response()
		begun := false
		begin := func(media string) {
			begun = true
			w.Header().Set("Content-Type", media)
			w.Header().Set("Cache-Control", "private, no-cache")
			w.WriteHeader(http.StatusOK)
		}
		var write func(*T) error
		var finish func() error
		n := 0
		if format == formatCSV {
			out := csv.NewWriter(w)
			head := func() error { begin(mediaCSV); return out.Write(headings(columns)) }
			write = func(row *T) error {
				if !begun {
					if err := head(); err != nil {
						return err
					}
				}
				return out.Write(cells(columns, row))
			}
			finish = func() error {
				if !begun {
					if err := head(); err != nil {
						return err
					}
				}
				out.Flush()
				return out.Error()
			}
		} else {
			encoder := json.NewEncoder(w)
			encoder.SetEscapeHTML(false)
			write = func(row *T) error {
				if !begun {
					begin(mediaNDJSON)
				}
				return encoder.Encode(row)
			}
			finish = func() error {
				if !begun {
					begin(mediaNDJSON)
				}
				return nil
			}
		}
		err := read(ctx, func(row *T) error {
			if n++; n%1000 == 0 {
				extendDeadline(w)
			}
			return write(row)
		})
		if err == nil {
			err = finish()
		}
		switch {
		case err == nil:
		case !begun:
			writeProblem(w, s.problem(ctx, err))
		default:
			s.log.WarnContext(ctx, "list cut", "request_id", requestID(ctx), "rows", n, "error", err)
			panic(http.ErrAbortHandler)
		}
	}}
}

// jsonPage answers with one JSON page. It is a StreamResponse as well, so that one operation can have all forms.
func jsonPage[T any](page list[T]) *huma.StreamResponse {
	if page.Items == nil {
		page.Items = []T{}
	}
	return jsonBody(page)
}

func jsonBody(body any) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		w := humaecho.Unwrap(hc).Response()
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", mediaJSON)
		}
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(body)
	}}
}

// listResponses documents the forms of a list whose JSON body is of type B and whose rows are of type T.
func listResponses[B, T any](s *Server) map[string]*huma.Response {
	registry := s.api.OpenAPI().Components.Schemas
	return map[string]*huma.Response{"200": {
		Description: "One page as JSON, or all rows as NDJSON or CSV",
		Content: map[string]*huma.MediaType{
			mediaJSON:   {Schema: registry.Schema(reflect.TypeFor[B](), true, "")},
			mediaNDJSON: {Schema: registry.Schema(reflect.TypeFor[T](), true, "")},
			"text/csv":  {Schema: &huma.Schema{Type: huma.TypeString}},
		},
	}}
}
