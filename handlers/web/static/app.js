// Keeps the numbers of a running walk up to date; without it the page has a refresh link.
'use strict';
(() => {
  const show = (box, p) => {
    for (const field of box.querySelectorAll('[data-field]')) {
      const value = p[field.dataset.field];
      field.textContent = value === undefined ? '' : String(value);
    }
    const bar = box.querySelector('progress');
    if (bar && p.known) { bar.max = p.known; bar.value = p.documents; }
  };
  for (const box of document.querySelectorAll('[data-progress]')) {
    const source = new EventSource(box.dataset.progress);
    source.addEventListener('progress', (e) => show(box, JSON.parse(e.data)));
    const end = () => { source.close(); location.reload(); };
    source.addEventListener('finished', end);
    source.addEventListener('idle', end);
  }
  for (const time of document.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime);
    time.title = time.textContent;
    time.textContent = at.toLocaleString();
  }
})();
