package handlers

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

// ruleToChange finds a rule that people may change here.
func (s *Server) ruleToChange(c echo.Context, name string) (models.AlertRule, error) {
	rule, err := s.rule(c.Request().Context(), RuleInput{Rule: name})
	if err == nil {
		err = changeable(rule.Origin)
	}
	return rule, err
}

// storedRule writes a rule as the form shows it.
func storedRule(page *web.Alerts, rule *models.AlertRule) {
	page.Edit, page.Chosen = rule.ID, map[int64]bool{}
	page.Form = map[string]string{"trigger": rule.Trigger, "threshold": strconv.FormatFloat(rule.Threshold, 'g', -1, 64), "severity": rule.Severity, "code": rule.Code,
		"site": number(rule.SiteID), "filter": rule.Filter, "name": rule.Name}
	page.Form["hours"] = hoursOf(rule.Within)
	if rule.Paused {
		page.Form["paused"] = "1"
	}
	for _, id := range rule.Channels {
		page.Chosen[id] = true
	}
}

// hoursOf is a length of time as the form has it, "" for none.
func hoursOf(within time.Duration) string {
	if within <= 0 {
		return ""
	}
	return strconv.Itoa(max(1, int(within/time.Hour)))
}

// saveRulePage adds the rule of the form, changes the one that it names, or says what it would have sent.
func (s *Server) saveRulePage(c echo.Context) error {
	ctx := c.Request().Context()
	if s.deps.AlertRules == nil || s.deps.Desk == nil {
		return unavailable("alerts")
	}
	form, err := c.FormParams()
	if err != nil {
		return newProblem(http.StatusBadRequest, "the form could not be read")
	}
	page := web.Alerts{Form: map[string]string{}, Chosen: map[int64]bool{}}
	for _, name := range []string{"trigger", "threshold", "hours", "severity", "code", "site", "filter", "name", "paused"} {
		page.Form[name] = strings.TrimSpace(form.Get(name))
	}
	channels := []int64{}
	for _, text := range form["channel"] {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			channels, page.Chosen[id] = append(channels, id), true
		}
	}
	var old models.AlertRule
	if edit := form.Get("rule"); edit != "" {
		if old, err = s.ruleToChange(c, edit); err != nil {
			return err
		}
		page.Edit = old.ID
	}
	rule, err := s.typedRule(c, page.Form, channels)
	rule.ID, rule.SilencedUntil, rule.SilenceReason = old.ID, old.SilencedUntil, old.SilenceReason
	if old.ID != 0 {
		rule.CreatedAt = old.CreatedAt
		if rule.Trigger == old.Trigger && page.Form["hours"] == hoursOf(old.Within) {
			rule.Within = old.Within // minutes that the form does not show
		}
	}
	if err == nil && form.Get("do") == "preview" {
		page.Previewed = true
		page.Preview, err = s.deps.Desk.Preview(ctx, rule, s.deps.Now().AddDate(0, 0, -30))
		if err == nil {
			return s.showAlerts(c, http.StatusOK, page)
		}
	} else if err == nil {
		_, err = s.deps.AlertRules.SaveAlertRule(ctx, rule)
	}
	if shownToPeople(err) {
		page.Problem, page.Previewed = err.Error(), false
		return s.showAlerts(c, http.StatusUnprocessableEntity, page)
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/settings/alerts?done=saved")
}

// typedRule reads the form as a whole rule: what is empty is what is usual, in a change too.
func (s *Server) typedRule(c echo.Context, form map[string]string, channels []int64) (models.AlertRule, error) {
	paused := form["paused"] != ""
	spec := models.AlertRuleSpec{Channels: &channels, Paused: &paused}
	for name, field := range map[string]**string{"trigger": &spec.Trigger, "severity": &spec.Severity, "code": &spec.Code, "filter": &spec.Filter, "name": &spec.Name} {
		if text := form[name]; text != "" {
			*field = &text
		}
	}
	if text := form["threshold"]; text != "" {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return models.AlertRule{}, models.Invalid("threshold", "", "%q is no number", text)
		}
		spec.Threshold = &n
	}
	if text := form["hours"]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 8784 {
			return models.AlertRule{}, models.Invalid("within", "1 to 8784 hours", "%q is no number of hours", text)
		}
		within := time.Duration(n) * time.Hour
		spec.Within = &within
	}
	if id, err := strconv.ParseInt(form["site"], 10, 64); err == nil {
		spec.SiteID = &id
	}
	return s.deps.Desk.Rule(c.Request().Context(), models.AlertRule{}, spec)
}
