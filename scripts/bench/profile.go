package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// profile makes one run within this process and keeps where its time, or its memory, went.
func profile(ctx context.Context, flags *flag.FlagSet, arguments []string) error {
	database := flags.String("database", "", "sqlite:PATH or mysql://…")
	index := flags.String("index", "", "URL of the index")
	cpu := flags.String("cpu", "", "file for the CPU profile")
	heap := flags.String("heap", "", "file for the allocations")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	s, err := store.Open(ctx, *database, store.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	client := fetch.New(fetch.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	defer client.Close()
	site, err := s.FindSite(ctx, *index)
	if err != nil {
		site, err = s.AddSite(ctx, models.Site{Name: "bench", Home: *index, Root: *index, Roots: []models.Root{{URL: *index, Discovery: "direct_URL"}}})
	}
	if err != nil {
		return err
	}
	engine, err := syncer.New(syncer.Options{Store: s, Web: client, Owner: "bench"})
	if err != nil {
		return err
	}
	stop, err := startProfiles(*cpu, *heap)
	if err != nil {
		return err
	}
	started := time.Now()
	run, err := engine.Run(ctx, syncer.Request{SiteID: site.ID, Cause: models.CauseManual})
	took := time.Since(started)
	if err := stop(); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "the run took", took.Round(time.Millisecond))
	return json.NewEncoder(os.Stdout).Encode(run.Counts)
}

func startProfiles(cpu, heap string) (stop func() error, err error) {
	var to *os.File
	if cpu != "" {
		if to, err = os.Create(cpu); err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(to); err != nil {
			return nil, err
		}
	}
	if heap != "" {
		runtime.MemProfileRate = 64 << 10
	}
	return func() error {
		if cpu != "" {
			pprof.StopCPUProfile()
			if err := to.Close(); err != nil {
				return err
			}
		}
		if heap == "" {
			return nil
		}
		f, err := os.Create(heap)
		if err != nil {
			return err
		}
		defer f.Close()
		return pprof.Lookup("allocs").WriteTo(f, 0)
	}, nil
}
