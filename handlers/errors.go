package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/models"
)

// Problem is the body of every error: RFC 9457 with the request's id, by which the
// operator finds the cause in the log.
type Problem struct {
	Type      string              `json:"type" doc:"Stable name of the kind of problem." example:"/problems/not-found"`
	Title     string              `json:"title" example:"Not Found"`
	Status    int                 `json:"status" example:"404"`
	Detail    string              `json:"detail,omitempty" doc:"What went wrong this time."`
	Hint      string              `json:"hint,omitempty" doc:"What to do about it."`
	RequestID string              `json:"request_id,omitempty" doc:"Names this request in the daemon's log."`
	Errors    []*huma.ErrorDetail `json:"errors,omitempty" doc:"One for each refused part of the request."`
}

func (p *Problem) Error() string  { return p.Title + ": " + p.Detail }
func (p *Problem) GetStatus() int { return p.Status }

// ContentType makes huma send the problem's own media type.
func (p *Problem) ContentType(string) string { return mediaProblem }

const mediaProblem = "application/problem+json"

// problemTypes name the kinds; a status without a name of its own is about:blank.
var problemTypes = map[int]string{
	http.StatusBadRequest:            "/problems/invalid",
	http.StatusUnauthorized:          "/problems/unauthorized",
	http.StatusForbidden:             "/problems/forbidden",
	http.StatusNotFound:              "/problems/not-found",
	http.StatusMethodNotAllowed:      "/problems/method-not-allowed",
	http.StatusConflict:              "/problems/conflict",
	http.StatusPreconditionFailed:    "/problems/precondition-failed",
	http.StatusGone:                  "/problems/pruned",
	http.StatusRequestEntityTooLarge: "/problems/too-large",
	http.StatusUnsupportedMediaType:  "/problems/unsupported-encoding",
	http.StatusUnprocessableEntity:   "/problems/invalid",
	http.StatusTooManyRequests:       "/problems/rate-limited",
	http.StatusInternalServerError:   "/problems/internal",
	http.StatusNotImplemented:        "/problems/not-available",
	http.StatusServiceUnavailable:    "/problems/unavailable",
}

func newProblem(status int, detail string) *Problem {
	kind, ok := problemTypes[status]
	if !ok {
		kind = "about:blank"
	}
	return &Problem{Type: kind, Title: http.StatusText(status), Status: status, Detail: detail}
}

// huma makes its own errors (validation, unknown parameters) through these two variables;
// they are set once for the process, before any API exists.
func init() {
	huma.DefaultArrayNullable = false
	huma.NewError = func(status int, detail string, errs ...error) huma.StatusError {
		p := newProblem(status, detail)
		for _, err := range errs {
			var d huma.ErrorDetailer
			switch {
			case err == nil:
			case errors.As(err, &d):
				p.Errors = append(p.Errors, d.ErrorDetail())
			default:
				p.Errors = append(p.Errors, &huma.ErrorDetail{Message: err.Error()})
			}
		}
		return p
	}
	huma.NewErrorWithContext = func(hc huma.Context, status int, detail string, errs ...error) huma.StatusError {
		p := huma.NewError(status, detail, errs...).(*Problem)
		if hc != nil {
			p.RequestID = requestID(hc.Context())
		}
		return p
	}
}

// problem is the only map from errors to what a client may know. Unknown errors are
// logged here, once, and leave the process as a request id alone.
func (s *Server) problem(ctx context.Context, err error) *Problem {
	var (
		p       *Problem
		invalid *models.InvalidError
		pruned  *models.PrunedError
		hinted  *models.HintedError
		httpErr *echo.HTTPError
		tooBig  *http.MaxBytesError
	)
	switch {
	case errors.As(err, &p):
		clone := *p
		p = &clone
	case errors.As(err, &invalid):
		p = newProblem(http.StatusUnprocessableEntity, invalid.Text)
		p.Hint = invalid.Hint
		if invalid.Field != "" {
			p.Errors = []*huma.ErrorDetail{{Message: invalid.Text, Location: invalid.Field}}
		}
	case errors.As(err, &pruned):
		p = newProblem(http.StatusGone, pruned.Error())
		p.Hint = "ask for run " + number(pruned.KeptFrom) + " or later; who follows the change feed reads the inventory anew and goes on from there"
		p.Errors = []*huma.ErrorDetail{{Message: "pruned", Location: pruned.Field, Value: pruned.Run}}
	case errors.Is(err, models.ErrNotFound):
		p = newProblem(http.StatusNotFound, "there is no such thing here")
	case errors.Is(err, models.ErrConflict):
		p = newProblem(http.StatusConflict, "it exists already, or was changed by somebody else")
	case errors.Is(err, models.ErrBusy):
		p = newProblem(http.StatusConflict, "the site is busy at the moment")
	case errors.As(err, &tooBig):
		p = newProblem(http.StatusRequestEntityTooLarge, "the body is larger than allowed here")
	case errors.As(err, &httpErr):
		detail, _ := httpErr.Message.(string)
		if strings.EqualFold(detail, http.StatusText(httpErr.Code)) {
			detail = ""
		}
		p = newProblem(httpErr.Code, detail)
	case errors.Is(err, context.Canceled):
		p = newProblem(http.StatusServiceUnavailable, "the request was given up")
	default:
		p = newProblem(http.StatusInternalServerError, "something went wrong inside the daemon; its log has the cause under this request's id")
		if errors.As(err, &hinted) {
			p.Hint = hinted.Hint
		}
		s.log.ErrorContext(ctx, "request failed", "request_id", requestID(ctx), "error", err)
	}
	p.RequestID = requestID(ctx)
	return p
}

// notFound says which thing is missing.
func notFound(what string) *Problem { return newProblem(http.StatusNotFound, "there is no such "+what) }

func unavailable(what string) *Problem {
	return newProblem(http.StatusNotImplemented, what+" is not available in this daemon")
}

// handleError is echo's last resort: everything that no handler answered itself.
func (s *Server) handleError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p := s.problem(c.Request().Context(), err)
	if wantsHTML(c.Request()) {
		if s.renderProblem(c, p) == nil {
			return
		}
	}
	writeProblem(c.Response(), p)
}

func writeProblem(w http.ResponseWriter, p *Problem) {
	w.Header().Set("Content-Type", mediaProblem)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// wantsHTML tells a person's browser on a page from a program on the API.
func wantsHTML(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/api/") && !strings.HasPrefix(r.URL.Path, "/hooks/") &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}
