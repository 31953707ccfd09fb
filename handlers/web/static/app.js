// Comfort only: live numbers, times in the viewer's zone, keys and the theme without a new page. Every page works without it.
'use strict';
(() => {
  const root = document.documentElement;
  root.classList.add('scripted');
  const all = (what, within) => [...(within || document).querySelectorAll(what)];

  // Times: what the server wrote is UTC and stays as the hover text.
  // The zone is the browser's unless another one was chosen; one that this browser does not know counts for nothing.
  const zone = () => { try { return new Intl.DateTimeFormat(undefined, { timeZone: root.dataset.zone }).resolvedOptions().timeZone; } catch { return undefined; } };
  const shown = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', timeZone: zone() });
  const localise = (within) => {
    for (const time of all('time[datetime]:not(.ago, [data-shown])', within)) {
      const at = new Date(time.dateTime);
      if (isNaN(at)) continue;
      time.title ||= time.textContent;
      time.dataset.shown = '';
      time.textContent = shown.format(at);
    }
  };
  localise();

  // On a narrow screen the tabs scroll.
  const here = document.querySelector('.tabs [aria-current]');
  if (here) here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.offsetLeft - 40;

  // A running walk.
  const number = new Intl.NumberFormat('en');
  for (const box of all('[data-progress]')) {
    const begun = Date.now();
    let first = null;
    const show = (p) => {
      for (const field of all('[data-field]', box)) {
        const value = p[field.dataset.field];
        field.textContent = value === undefined ? '' : typeof value === 'number' ? number.format(value) : String(value);
      }
      const bar = box.querySelector('progress');
      if (bar && p.known) { bar.max = p.known; bar.value = p.documents || 0; }
      if (first === null) first = p.pages || 0;
      const seconds = (Date.now() - begun) / 1000, rate = box.querySelector('[data-rate]');
      if (rate && seconds > 2 && p.pages > first) rate.textContent = ', ' + number.format(Math.round((p.pages - first) / seconds)) + '/s';
    };
    const source = new EventSource(box.dataset.progress);
    source.addEventListener('progress', (e) => show(JSON.parse(e.data)));
    const end = () => { source.close(); location.reload(); };
    source.addEventListener('finished', end);
    source.addEventListener('idle', end);
    addEventListener('pagehide', () => source.close());
  }

  // A search that was not through in its time goes on by itself, page by page, until a screen is full.
  const onward = document.querySelector('[data-onward]'), into = document.querySelector('[data-rows]');
  if (onward && location.pathname.endsWith('/urls')) (async () => {
    const said = onward.querySelector('[role=status]'), link = onward.querySelector('a');
    let rows = into ? into.rows.length : 0, next = onward.dataset.onward;
    while (next && rows < 50) {
      const answer = await fetch(next, { headers: { Accept: 'text/html' } });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const more = page.querySelector('[data-rows]'), further = page.querySelector('[data-onward]'), plain = page.querySelector('a[rel=next]');
      if (more && !into) { location.replace(next); return; }
      if (more) { rows += more.rows.length; into.append(...[...more.rows].map((row) => document.importNode(row, true))); localise(into); }
      if (!into && !further) { location.replace(next); return; }
      next = further && further.dataset.onward;
      if (plain) link.href = plain.getAttribute('href'); else onward.remove();
      if (!next) said.textContent = '';
    }
  })();

  // One box chooses all rows that are shown.
  for (const box of all('[data-chooseall]')) {
    const head = box.querySelector('input'), boxes = () => all('tbody input[type=checkbox]', box.closest('table'));
    box.hidden = false;
    head.addEventListener('change', () => { for (const one of boxes()) one.checked = head.checked; });
    box.closest('table').addEventListener('change', (e) => {
      if (e.target === head) return;
      const chosen = boxes().filter((one) => one.checked).length;
      head.checked = chosen > 0 && chosen === boxes().length;
      head.indeterminate = chosen > 0 && !head.checked;
    });
  }

  // The theme changes at once; the cookie is the server's matter.
  const theme = document.querySelector('form.theme');
  if (theme) theme.addEventListener('submit', (e) => {
    e.preventDefault();
    const button = theme.querySelector('button'), chosen = button.value;
    fetch(theme.action, { method: 'POST', body: new URLSearchParams({ theme: chosen, next: '/' }), redirect: 'manual' });
    if (chosen === 'auto') delete root.dataset.theme; else root.dataset.theme = chosen;
    button.value = { dark: 'light', light: 'auto', auto: 'dark' }[chosen];
    button.textContent = { dark: '☾', light: '☀', auto: '◐' }[chosen];
  });

  // Keys.
  const dialog = document.getElementById('keys'), off = document.getElementById('keys-off'), help = document.getElementById('help');
  const kept = { get: () => { try { return localStorage.getItem('keys') === 'off'; } catch { return false; } }, set: (v) => { try { localStorage.setItem('keys', v ? 'off' : 'on'); } catch { /* private window */ } } };
  off.checked = kept.get();
  off.addEventListener('change', () => kept.set(off.checked));
  help.hidden = false;
  help.addEventListener('click', () => dialog.showModal());
  const site = document.body.dataset.site;
  const places = { o: '/', s: site, i: site + '/urls', c: site + '/changes', r: site + '/runs', d: site + '/documents', f: site + '/findings', h: site + '/held', p: site + '/reports' };
  const rows = () => all('main tbody tr, main .changes li, main .timeline > li').map((row) => row.querySelector('a[href]')).filter((a) => a);
  const move = (by) => {
    const links = rows(), at = links.findIndex((a) => a.closest('tr, li').contains(document.activeElement));
    const to = links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + by))];
    if (to) { to.focus(); to.scrollIntoView({ block: 'nearest' }); }
  };
  // Arrows go from state to state of a timeline once one is chosen; elsewhere they scroll.
  const timeline = (by) => { const inside = document.activeElement.closest('.timeline'); if (inside) move(by); return inside; };
  const choose = () => {
    const row = document.activeElement.closest('tbody tr'), box = row && row.querySelector('input[type=checkbox]');
    if (box) box.click();
  };
  const follow = (what) => { const link = document.querySelector(what); if (link) link.click(); };
  const period = (by) => {
    const chips = all('[data-period] .chip'), to = chips[chips.findIndex((c) => c.classList.contains('chosen')) + by];
    if (to) to.click();
  };
  // Where to go is found while it is typed; the newest question wins.
  const going = document.querySelector('[data-go]');
  let asked = 0;
  if (going) going.q.addEventListener('input', async () => {
    const mine = ++asked, query = new URLSearchParams(new FormData(going));
    const answer = await fetch(going.action + '?' + query, { headers: { Accept: 'text/html' } });
    if (!answer.ok || mine !== asked) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (mine === asked) document.querySelector('[data-places]').replaceWith(document.importNode(page.querySelector('[data-places]'), true));
  });
  let leader = 0;
  addEventListener('keydown', (e) => {
    const field = e.target.closest('input:not([type=checkbox]), textarea, select');
    if (e.key === 'Escape' && field) { field.blur(); return; }
    if (e.key === 'k' && (e.ctrlKey || e.metaKey) && !e.shiftKey && !e.altKey && !off.checked) {
      e.preventDefault();
      document.querySelector('[aria-keyshortcuts="Control+K"]').click();
      return;
    }
    const typed = e.getModifierState && e.getModifierState('AltGraph'); // brackets on many keyboards
    if (field || !typed && (e.ctrlKey || e.altKey) || e.metaKey || dialog.open || off.checked && e.key !== '?') return;
    if (Date.now() - leader < 1500) {
      leader = 0;
      if (places[e.key] && (site || e.key === 'o')) { e.preventDefault(); location.href = places[e.key]; }
      return;
    }
    if ((e.key === 'ArrowDown' || e.key === 'ArrowUp') && timeline(e.key === 'ArrowDown' ? 1 : -1)) { e.preventDefault(); return; }
    const act = {
      '/': () => document.querySelector('.search input[type=search]').focus(), '?': () => dialog.showModal(), j: () => move(1), k: () => move(-1), x: choose, '[': () => period(-1), ']': () => period(1),
      n: () => follow('a[rel=next]'), p: () => history.back(), g: () => { leader = Date.now(); }, e: () => follow('[data-export]'), t: () => theme.requestSubmit(theme.querySelector('button')),
    }[e.key];
    if (act) { e.preventDefault(); act(); }
  });
})();
