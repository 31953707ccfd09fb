package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// rulesFile is what notify.rules names: channels and alert rules, each known by its name. What the file says is changed
// there: a channel that it names no more is disabled, a rule removed.
type rulesFile struct {
	Channels []channelEntry `yaml:"channels"`
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
	return errors.Join(append(problems, a.endChannels(ctx, s, named))...)
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
