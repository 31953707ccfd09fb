package syncer

import (
	"context"
	"fmt"

	"github.com/sitemapd/sitemapd/models"
)

// mostStrangers is how many other hosts are counted: adoption needs exactly one.
const mostStrangers = 8

// elsewhere counts a page on another host.
func (r *run) elsewhere(identity []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	host := authorityOf(identity)
	if r.strangers == nil {
		r.strangers = map[string]int64{}
	}
	if r.strangers[host] > 0 || len(r.strangers) < mostStrangers {
		r.strangers[host]++
	}
}

// adopt takes another host for the site's own when the site's first run finds every page there and none on the host
// that was asked: a mapped domain, a proxy, a copy that is looked at under another name. Later a change of host is a
// matter for the guard, since a leaked staging address looks just the same.
func (r *run) adopt(ctx context.Context) error {
	if !r.record.Baseline || r.total.Load() > 0 || len(r.strangers) != 1 {
		return nil
	}
	for host, pages := range r.strangers {
		r.hosts[host] = true
		r.site.Settings.Hosts = append(r.site.Settings.Hosts, host)
		if err := r.o.Store.SaveSite(ctx, r.site); err != nil {
			return fmt.Errorf("adopt host %s: %w", host, err)
		}
		// What was staged as foreign is staged anew as the site's own.
		for _, d := range r.documents {
			d.SemanticHash, d.ByteHash = nil, nil
		}
		if err := r.walk(ctx); err != nil {
			return err
		}
		r.note("host-adopted", models.SeverityWarning, r.site.Root, fmt.Sprintf(
			"all %d pages are on %s, which is taken for the site's own host although the sitemap came from another", pages, host))
	}
	return nil
}
