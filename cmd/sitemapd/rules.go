package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// rulesFile is what notify.rules names: channels and alert rules, each known by its name. What the file says is changed
// there: a channel that it names no more is disabled, a rule removed.
type rulesFile struct {
	Channels []channelEntry `yaml:"channels"`
	Alerts   []alertEntry   `yaml:"alerts"`
}

type alertEntry struct {
	Name      string   `yaml:"name"`
	Trigger   string   `yaml:"trigger"`
	Threshold *float64 `yaml:"threshold"`
	Severity  *string  `yaml:"severity"`
	Code      *string  `yaml:"code"`
	Within    string   `yaml:"within"`
	Site      string   `yaml:"site"`
	Filter    *string  `yaml:"filter"`
	Channels  []string `yaml:"channels"`
	Paused    bool     `yaml:"paused"`
}

type channelEntry struct {
	Name        string   `yaml:"name"`
	Address     string   `yaml:"address"`
	AddressFile string   `yaml:"address_file"` // a file that holds it: chats' addresses are secrets
	SecretFile  string   `yaml:"secret_file"`  // of a webhook; one is made when it is left out
	Site        string   `yaml:"site"`
	Types       []string `yaml:"types"`
	Digest      string   `yaml:"digest"`
	TimeZone    string   `yaml:"time_zone"`
}

// maxRulesFile bounds the file.
const maxRulesFile = 1 << 20

func readRules(path string) (rulesFile, error) {
	var rules rulesFile
	if path == "" {
		return rules, nil
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxRulesFile {
		err = fmt.Errorf("%s is larger than 1 MiB", path)
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(path)
	}
	if err != nil {
		return rules, usage("notify.rules: %w", err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&rules); err != nil && !errors.Is(err, io.EOF) {
		return rules, usage("notify.rules: %s: %w", path, err)
	}
	dir := filepath.Dir(path)
	for i := range rules.Channels {
		c := &rules.Channels[i]
		for _, file := range []*string{&c.AddressFile, &c.SecretFile} {
			if *file != "" && !filepath.IsAbs(*file) {
				*file = filepath.Join(dir, *file)
			}
		}
	}
	return rules, nil
}

// applyRules brings the database to what the file of notify.rules says, as far as its entries are right.
func (a *app) applyRules(ctx context.Context, s *store.Store) error {
	path := a.config.Notify.Rules
	if path == "" {
		return nil
	}
	rules, err := readRules(path)
	if err != nil {
		return err
	}
	var problems []error
	named := map[string]bool{}
	for _, entry := range rules.Channels {
		named[entry.Name] = true
		if err := a.applyChannel(ctx, s, entry); err != nil {
			problems = append(problems, fmt.Errorf("channel %s: %w", entry.Name, err))
		}
	}
	problems = append(problems, a.endChannels(ctx, s, named))
	named = map[string]bool{}
	for _, entry := range rules.Alerts {
		named[entry.Name] = true
		if err := a.applyAlert(ctx, s, entry); err != nil {
			problems = append(problems, fmt.Errorf("alert %s: %w", entry.Name, err))
		}
	}
	return errors.Join(append(problems, a.endAlerts(ctx, s, named))...)
}

// endAlerts removes the rules that the file made and names no more.
func (a *app) endAlerts(ctx context.Context, s *store.Store, named map[string]bool) error {
	rules, err := s.AlertRules(ctx)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if r.Origin == models.OriginConfig && !named[r.Name] {
			if err := s.RemoveAlertRule(ctx, r.ID, time.Now()); err != nil {
				return err
			}
			a.log.Info("an alert rule is removed: the rules file names it no more", "rule", r.Name)
		}
	}
	return nil
}

func (a *app) applyAlert(ctx context.Context, s *store.Store, entry alertEntry) error {
	if entry.Name == "" {
		return models.Invalid("name", "", "is missing")
	}
	spec := models.AlertRuleSpec{Name: &entry.Name, Trigger: &entry.Trigger, Threshold: entry.Threshold, Severity: entry.Severity, Code: entry.Code,
		Filter: entry.Filter, Paused: &entry.Paused, Origin: models.OriginConfig}
	if entry.Within != "" {
		d, err := longTime(entry.Within)
		if err != nil {
			return models.Invalid("within", "for example 24h or 7d", "%q is no duration", entry.Within)
		}
		spec.Within = &d
	}
	if entry.Site != "" {
		site, err := a.site(ctx, s, entry.Site)
		if err != nil {
			return err
		}
		spec.SiteID = &site.ID
	}
	ids, err := channelIDs(ctx, s, entry.Channels)
	if err != nil {
		return err
	}
	spec.Channels = &ids
	old, err := s.FindAlertRule(ctx, entry.Name)
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		return err
	}
	// Anew from nothing, so that what the file leaves out is what is usual; who it is and its silence stay.
	rule, err := a.desk(s).Rule(ctx, models.AlertRule{}, spec)
	if err != nil {
		return err
	}
	if old.ID != 0 {
		rule.ID, rule.CreatedAt, rule.SilencedUntil, rule.SilenceReason = old.ID, old.CreatedAt, old.SilencedUntil, old.SilenceReason
		if reflect.DeepEqual(old, rule) {
			return nil
		}
	}
	_, err = s.SaveAlertRule(ctx, rule)
	return err
}

// endChannels disables the channels that the file made and names no more.
func (a *app) endChannels(ctx context.Context, s *store.Store, named map[string]bool) error {
	channels, err := s.Channels(ctx)
	if err != nil {
		return err
	}
	for _, c := range channels {
		if c.Origin == models.OriginConfig && !named[c.Name] && c.DisabledAt == nil {
			if err := s.DisableChannel(ctx, c.ID, time.Now(), "the rules file names it no more"); err != nil {
				return err
			}
			a.log.Warn("a channel is disabled: the rules file names it no more", "channel", c.Name)
		}
	}
	return nil
}

func (a *app) applyChannel(ctx context.Context, s *store.Store, entry channelEntry) error {
	if entry.Name == "" {
		return models.Invalid("name", "", "is missing")
	}
	if entry.AddressFile != "" {
		text, err := readSecretFile(entry.AddressFile)
		if err != nil {
			return err
		}
		entry.Address = text
	}
	spec := models.ChannelSpec{Name: &entry.Name, Address: &entry.Address, Digest: &entry.Digest, TimeZone: &entry.TimeZone, SiteID: new(int64), Origin: models.OriginConfig}
	if entry.Types != nil {
		spec.Types = &entry.Types
	}
	if entry.Site != "" {
		site, err := a.site(ctx, s, entry.Site)
		if err != nil {
			return err
		}
		spec.SiteID = &site.ID
	}
	if entry.SecretFile != "" {
		secret, err := readSecretFile(entry.SecretFile)
		if err != nil {
			return err
		}
		spec.Secret = &secret
	}
	known, err := s.FindChannel(ctx, entry.Name)
	if errors.Is(err, models.ErrNotFound) {
		_, key, err := a.desk(s).AddChannel(ctx, spec)
		if err == nil && key != nil && spec.Secret == nil {
			a.log.Info("a channel was added; `sitemapd webhook secret` makes and shows a secret", "channel", entry.Name)
		}
		return err
	}
	if err != nil {
		return err
	}
	return a.desk(s).KeepChannel(ctx, known, spec)
}
