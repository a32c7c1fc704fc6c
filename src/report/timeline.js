/* Third part: the timeline of a trace, on a canvas. Wheel or pinch zooms about the pointer, drag
   moves, + - 0 and the arrows do the same from the keyboard. */

const ROW = 16, LABEL = 118, AXIS = 22, FIELDS = 7, FEW_ROWS = 24;

function timelineNode(trace) {
  const canvas = node('canvas'), tip = node('div.tip', ' '), count = node('span.soft');
  const button = (text, label, act) => {
    const b = node('button', text);
    b.type = 'button';
    b.setAttribute('aria-label', label);
    b.addEventListener('click', act);
    return b;
  };
  const end = lastMoment(trace);
  const used = usedRows(trace);
  const t = {trace, canvas, tip, end, from: 0, to: end, rows: used.slice(0, FEW_ROWS), order: eventsByRow(trace)};
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', 'timeline of pipes; plus, minus, zero and the arrows zoom and move');
  const tools = node('div.tools', button('+', 'zoom in', () => zoom(t, .5, .5)), button('−', 'zoom out', () => zoom(t, 2, .5)),
    button('all', 'show all', () => { t.from = 0; t.to = t.end; draw(t); }), count);
  if (used.length > FEW_ROWS) {
    const every = button('', 'every core', () => {
      t.rows = t.rows.length < used.length ? used : used.slice(0, FEW_ROWS);
      every.textContent = t.rows.length < used.length ? 'all ' + used.length + ' rows' : 'first ' + FEW_ROWS + ' rows';
      draw(t);
    });
    every.textContent = 'all ' + used.length + ' rows';
    tools.append(every);
  }
  count.append(trace.events.length / FIELDS + ' instructions, predicted' + (trace.left_out ? '; ' + trace.left_out + ' more are left out' : ''));
  listen(t);
  requestAnimationFrame(() => draw(t));
  canvas.timeline = t;
  return node('div.timeline', tools, canvas, tip);
}

const at = (t, event, field) => t.trace.events[event * FIELDS + field];

function lastMoment(trace) {
  let end = 1;
  for (let i = 0; i < trace.events.length; i += FIELDS) end = Math.max(end, trace.events[i + 1] + trace.events[i + 2]);
  return end;
}

function eventsByRow(trace) {
  const lists = trace.rows.map(() => []);
  for (let i = 0; i * FIELDS < trace.events.length; i++) lists[trace.events[i * FIELDS]].push(i);
  lists.forEach(list => list.sort((a, b) => trace.events[a * FIELDS + 1] - trace.events[b * FIELDS + 1]));
  return lists;
}

/* Rows that have events. */
function usedRows(trace) {
  const used = new Set();
  for (let i = 0; i < trace.events.length; i += FIELDS) used.add(trace.events[i]);
  return [...used].sort((a, b) => a - b);
}

function colours() {
  const probe = getComputedStyle(document.body), paint = document.createElement('span');
  document.body.append(paint);
  const get = name => { paint.style.color = 'var(' + name + ')'; return getComputedStyle(paint).color; };
  const all = {ink: probe.color, soft: get('--soft'), line: get('--line'), accent: get('--accent'), fail: get('--fail'), paper: get('--paper')};
  paint.remove();
  return all;
}

function draw(t) {
  const width = t.canvas.clientWidth, height = AXIS + ROW * t.rows.length + 4, scale = devicePixelRatio || 1;
  if (!width) return;
  t.canvas.width = width * scale;
  t.canvas.height = height * scale;
  t.canvas.style.height = height + 'px';
  const g = t.canvas.getContext('2d'), c = colours();
  g.scale(scale, scale);
  g.font = '11px system-ui, sans-serif';
  drawAxis(t, g, c, width, height);
  t.rows.forEach((row, index) => drawRow(t, g, c, row, AXIS + ROW * index, width));
}

const xOf = (t, time, width) => LABEL + (time - t.from) / (t.to - t.from) * (width - LABEL);

function drawAxis(t, g, c, width, height) {
  const rough = (t.to - t.from) / Math.max(2, (width - LABEL) / 90), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (rough / power < 2 ? 2 : rough / power < 5 ? 5 : 10);
  for (let time = Math.ceil(t.from / step) * step; time <= t.to; time += step) {
    const x = xOf(t, time, width);
    g.fillStyle = c.line;
    g.fillRect(x, AXIS - 4, 1, height);
    g.fillStyle = c.soft;
    g.fillText(time / 1e4 >= 1 || time === 0 ? Number((time / 1e4).toPrecision(6)) + ' us' : Number((time / 10).toPrecision(4)) + ' ns', x + 3, AXIS - 8);
  }
}

function drawRow(t, g, c, row, y, width) {
  const [core, pipe] = t.trace.rows[row];
  g.fillStyle = c.paper;
  g.fillRect(0, y, LABEL, ROW);
  g.fillStyle = c.soft;
  g.fillText(core.replace('core ', '').slice(0, 10) + ' ' + pipe, 4, y + 11);
  g.fillStyle = /^(V|M|CUBE|VEC)/i.test(pipe) && !/MTE/i.test(pipe) ? c.accent : c.fail;
  let painted = -1; /* pixels already filled: thousands of events may share one */
  for (const event of t.order[row]) {
    const start = at(t, event, 1), stop = start + at(t, event, 2);
    if (stop < t.from || start > t.to) continue;
    const x = Math.max(LABEL, xOf(t, start, width)), w = Math.max(.75, xOf(t, stop, width) - x);
    if (x + w <= painted) continue;
    g.fillRect(x, y + 2, w > 3 ? w - .5 : w, ROW - 4);
    painted = x + w;
    if (w > 60) label(t, g, c, event, x, y, w);
  }
}

function label(t, g, c, event, x, y, w) {
  const before = g.fillStyle;
  g.save();
  g.beginPath();
  g.rect(x, y, w - 4, ROW);
  g.clip();
  g.fillStyle = c.paper;
  g.fillText(t.trace.names[at(t, event, 3)], x + 4, y + 11);
  g.restore();
  g.fillStyle = before;
}

/* factor below 1 comes nearer; `where` 0 to 1 stays in place. */
function zoom(t, factor, where) {
  const span = Math.min(t.end, Math.max(20, (t.to - t.from) * factor)), middle = t.from + (t.to - t.from) * where;
  move(t, middle - span * where, span);
}

function move(t, from, span) {
  t.from = Math.min(Math.max(0, from), t.end - span);
  t.to = t.from + span;
  draw(t);
}

function eventUnder(t, x, y) {
  const row = t.rows[Math.floor((y - AXIS) / ROW)], width = t.canvas.clientWidth;
  if (row === undefined || x < LABEL) return -1;
  const time = t.from + (x - LABEL) / (width - LABEL) * (t.to - t.from), slack = (t.to - t.from) / (width - LABEL);
  const found = t.order[row].find(e => at(t, e, 1) <= time + slack && at(t, e, 1) + at(t, e, 2) >= time - slack);
  return found === undefined ? -1 : found;
}

function describe(t, event) {
  if (event < 0) return ' ';
  const waited = at(t, event, 5), line = t.trace.lines[at(t, event, 4)];
  return visible(t.trace.names[at(t, event, 3)]) + '  ' + time(at(t, event, 2) / 1e4) + ' at ' + time(at(t, event, 1) / 1e4) +
    (line ? '  ' + visible(line) : '') + (waited ? '  waited ' + time(waited / 1e4) + ' for ' + visible(t.trace.waits[at(t, event, 6)]) : '');
}

function listen(t) {
  const canvas = t.canvas;
  let held = null;
  const where = e => (e.offsetX - LABEL) / (canvas.clientWidth - LABEL);
  canvas.addEventListener('wheel', e => {
    e.preventDefault();
    zoom(t, Math.exp(Math.max(-50, Math.min(50, e.deltaY)) / 100), Math.min(1, Math.max(0, where(e))));
  }, {passive: false});
  canvas.addEventListener('pointerdown', e => { held = {x: e.offsetX, from: t.from}; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener('pointerup', () => { held = null; });
  canvas.addEventListener('pointermove', e => {
    if (held) move(t, held.from - (e.offsetX - held.x) / (canvas.clientWidth - LABEL) * (t.to - t.from), t.to - t.from);
    else t.tip.textContent = describe(t, eventUnder(t, e.offsetX, e.offsetY));
  });
  canvas.addEventListener('keydown', e => {
    const span = t.to - t.from, acts = {'+': () => zoom(t, .5, .5), '=': () => zoom(t, .5, .5), '-': () => zoom(t, 2, .5),
      '0': () => move(t, 0, t.end), ArrowLeft: () => move(t, t.from - span / 5, span), ArrowRight: () => move(t, t.from + span / 5, span)};
    if (acts[e.key]) { e.preventDefault(); acts[e.key](); }
  });
  timelines.push(t);
}

/* Those on the page; drawn again when its size or its colours change. */
let timelines = [];

function redraw() {
  timelines = timelines.filter(t => t.canvas.isConnected);
  timelines.forEach(draw);
}

function startTimelines() {
  addEventListener('resize', redraw);
  document.addEventListener('themechange', redraw);
  for (const media of ['print', '(prefers-color-scheme: dark)']) matchMedia(media).addEventListener('change', redraw);
}
