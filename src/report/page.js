/* The page's script, first part: helpers, the list of attempts, moving between views.
   Text from the store is only ever set as text (node(), textContent), never as markup. */

const COLUMN = {id: 0, run: 1, task: 2, sample: 3, turn: 4, status: 5, reason: 6, piece: 7,
                predicted: 8, bound: 9, baseline: 10, error: 11, measured: 12, copy: 13};
const PAGE = 100;
const $ = id => document.getElementById(id);
const readJson = id => $(id) ? JSON.parse($(id).textContent) : null;
const live = document.body.classList.contains('live');
let data = null;
let view = {text: '', status: '', category: '', run: '', sort: -1, down: false, shown: PAGE};

/* node('td.n', 'text', child, ...): an element with classes; strings become text. */
function node(name, ...children) {
  const [tag, ...classes] = name.split('.');
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(' ');
  for (const child of children.flat())
    if (child !== null && child !== undefined) element.append(child);
  return element;
}

/* Characters that hide or turn text are shown by their number. */
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    c => '\u27e6' + c.charCodeAt(0).toString(16).padStart(4, '0') + '\u27e7');
}

function time(us) {
  if (us === null || us === undefined) return '-';
  const n = v => v >= 100 ? v.toFixed(0) : v && v < .01 ? v.toExponential(1) : v.toPrecision(3);
  return us >= 1e6 ? n(us / 1e6) + ' s' : us >= 1e3 ? n(us / 1e3) + ' ms' : us >= 1 || us === 0 ? n(us) + ' us' : n(us * 1e3) + ' ns';
}
function short(v) {
  if (v === null || v === undefined) return '-';
  if (typeof v !== 'number') return v;
  return v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e6) ? v.toExponential(1) : Number(v.toPrecision(3)).toString();
}

function statusNode(status) {
  const [text, counted, meaning] = data.statuses[status];
  const kind = text === 'ok' ? 'right' : counted ? 'wrong' : 'lacks';
  const element = node('span.status.' + kind, text);
  element.title = meaning;
  return element;
}
const statusNamed = name => statusNode(Math.max(0, data.statuses.findIndex(s => s[0] === name)));

/* ---- the list ---- */

function matches(row) {
  const [name, category] = data.tasks[row[COLUMN.task]];
  if (view.run !== '' && row[COLUMN.run] !== Number(view.run)) return false;
  if (view.category && category !== view.category) return false;
  const status = data.statuses[row[COLUMN.status]][0];
  if (view.status === 'not ok' ? status === 'ok' : view.status && status !== view.status) return false;
  return !view.text || (name + ' ' + data.reasons[row[COLUMN.reason]]).toLowerCase().includes(view.text);
}

/* A column that is computed: the measured baseline over the predicted time. */
const SPEEDUP = 1000;

function speedup(row) {
  const predicted = row[COLUMN.predicted], baseline = row[COLUMN.baseline];
  return predicted && baseline ? baseline / predicted : null;
}

function sortKey(row) {
  return view.sort === SPEEDUP ? speedup(row) : view.sort === COLUMN.task ? data.tasks[row[COLUMN.task]][0]
    : view.sort === COLUMN.status ? data.statuses[row[COLUMN.status]][0] : row[view.sort];
}

function compareRows(a, b) {
  const x = sortKey(a), y = sortKey(b);
  if (x === null || y === null) return (x === null) - (y === null);
  return (x < y ? -1 : x > y ? 1 : 0) * (view.down ? -1 : 1);
}

function rowNode(row) {
  const [name, category] = data.tasks[row[COLUMN.task]];
  const link = node('a', visible(name));
  link.href = '#a' + row[COLUMN.id];
  const element = node('tr', node('td', link), node('td.soft.narrow-off', visible(category)),
    node('td.narrow-off', visible(data.runs[row[COLUMN.run]])),
    node('td.n.narrow-off', row[COLUMN.sample] + (row[COLUMN.turn] ? ' · turn ' + row[COLUMN.turn] : '')),
    node('td', statusNode(row[COLUMN.status])),
    hasMeasured ? [node('td.n', time(row[COLUMN.measured])), node('td.n.narrow-off', time(row[COLUMN.copy]))] : [],
    node('td.n', time(row[COLUMN.predicted])),
    node('td.n.narrow-off', time(row[COLUMN.bound])), node('td.n.narrow-off', time(row[COLUMN.baseline])),
    node('td.n.narrow-off', speedup(row) === null ? '-' : speedup(row).toPrecision(3) + '×'), node('td.n.narrow-off', short(row[COLUMN.error])),
    node('td.reason', visible(data.reasons[row[COLUMN.reason]])));
  element.lastChild.title = element.lastChild.textContent;
  element.addEventListener('click', () => { location.hash = '#a' + row[COLUMN.id]; });
  return element;
}

const HEADINGS = [['task', COLUMN.task, ''], ['category', -1, 'narrow-off'], ['run', COLUMN.run, 'narrow-off'],
  ['sample', COLUMN.sample, 'narrow-off'], ['verdict', COLUMN.status, ''], ['predicted', COLUMN.predicted, ''],
  ['bound', COLUMN.bound, 'narrow-off'], ['baseline', COLUMN.baseline, 'narrow-off'], ['speed-up', SPEEDUP, 'narrow-off'], ['rel. error', COLUMN.error, 'narrow-off']];

/* Columns that only kernels for this machine have: the measured time, and that of a copy of the same bytes. */
const MEASURED = [['measured', COLUMN.measured, ''], ['a copy', COLUMN.copy, 'narrow-off']];
let hasMeasured = false; /* some row has a measured time */
const headings = () => hasMeasured ? [...HEADINGS.slice(0, 5), ...MEASURED, ...HEADINGS.slice(5)] : HEADINGS;

function headingNode([text, column, css]) {
  const cell = node('th' + (css ? '.' + css : ''));
  if (column < 0) return cell.append(text), cell;
  const button = node('button', text + (view.sort === column ? (view.down ? ' ↓' : ' ↑') : ''));
  button.type = 'button';
  button.addEventListener('click', () => {
    view.down = view.sort === column && !view.down;
    view.sort = column;
    drawList();
    $('list').querySelector('th[aria-sort] button').focus(); /* the table is new; keys stay where they were */
  });
  if (view.sort === column) cell.setAttribute('aria-sort', view.down ? 'descending' : 'ascending');
  cell.append(button);
  return cell;
}

function drawList() {
  const rows = data.rows.filter(matches);
  hasMeasured = data.rows.some(row => row[COLUMN.measured] !== null);
  if (view.sort >= 0) rows.sort(compareRows);
  const head = node('thead', node('tr', headings().map(headingNode), node('th.reason')));
  const table = node('table.list', head, node('tbody', rows.slice(0, view.shown).map(rowNode)));
  const more = node('button', 'show ' + Math.min(PAGE, rows.length - view.shown) + ' more');
  more.type = 'button';
  more.addEventListener('click', () => { view.shown += PAGE; drawList(); });
  const count = node('p.soft', rows.length + ' of ' + data.rows.length + ' ');
  if (rows.length > view.shown) count.append(more);
  $('list').replaceChildren(node('div.wide', table), count);
}

function choice(key, first, options) {
  const select = node('select', [['', first], ...options].map(([value, text]) => {
    const option = node('option', visible(text));
    option.value = value;
    return option;
  }));
  select.setAttribute('aria-label', first);
  select.value = view[key];
  select.addEventListener('change', () => { view[key] = select.value; view.shown = PAGE; drawList(); });
  return select;
}

function drawFilters() {
  const search = node('input');
  search.type = 'search';
  search.placeholder = 'task or reason';
  search.setAttribute('aria-label', 'task or reason');
  search.value = view.text;
  search.addEventListener('input', () => { view.text = search.value.toLowerCase(); view.shown = PAGE; drawList(); });
  const used = new Set(data.rows.map(r => r[COLUMN.status]));
  const statuses = data.statuses.map(s => [s[0], s[0]]).filter((s, i) => used.has(i));
  const categories = [...new Set(data.tasks.map(t => t[1]))].sort().map(c => [c, c]);
  $('table').replaceChildren(node('div.filters', search,
    choice('status', 'every verdict', [['not ok', 'not ok'], ...statuses]),
    choice('category', 'every category', categories),
    data.runs.length > 1 ? choice('run', 'every run', data.runs.map((r, i) => [String(i), r])) : null),
    Object.assign(node('div'), {id: 'list'}));
  drawList();
}

/* ---- texts: packed in this file, or asked of the server ---- */

const unpacked = new Map();

async function unpackChunk(index) {
  const bytes = Uint8Array.from(atob($('chunk' + index).textContent), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return JSON.parse(await new Response(stream).text());
}

async function piece(number) {
  const firsts = readChunks();
  let low = 0, high = firsts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (firsts[middle] <= number) low = middle; else high = middle - 1;
  }
  if (!unpacked.has(low)) unpacked.set(low, unpackChunk(low));
  return (await unpacked.get(low))[number - firsts[low]];
}

let chunkFirsts = null;
const readChunks = () => chunkFirsts || (chunkFirsts = readJson('chunks') || []);

async function ask(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error('the server has no ' + path);
  return answer.text();
}

/* A text of an attempt: the number of a piece, or the name of a blob. */
async function textOf(reference, where = '/blob/') {
  if (reference === null || reference === undefined) return null;
  return typeof reference === 'number' ? piece(reference) : ask(where + reference);
}

async function detailOf(row) {
  if (live) return JSON.parse(await ask('/attempt/' + row[COLUMN.id]));
  return row[COLUMN.piece] < 0 ? null : JSON.parse(await piece(row[COLUMN.piece]));
}

/* ---- views ---- */

let scrolled = 0;

function showOverview() {
  $('attempt').hidden = true;
  $('overview').hidden = false;
  window.scrollTo(0, scrolled);
}

function route() {
  const match = /^#a(\d+)$/.exec(location.hash);
  const row = match && data.rows.find(r => r[COLUMN.id] === Number(match[1]));
  if (!row) return showOverview();
  if (!$('overview').hidden) scrolled = window.scrollY;
  $('overview').hidden = true;
  $('attempt').hidden = false;
  window.scrollTo(0, 0);
  showAttempt(row);
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem('acraft-theme', name); } catch (e) { /* files may not keep it */ }
  document.dispatchEvent(new Event('themechange'));
}

function startTheme() {
  let kept = null;
  try { kept = localStorage.getItem('acraft-theme'); } catch (e) { kept = null; }
  if (kept === 'light' || kept === 'dark') setTheme(kept);
  $('theme').addEventListener('click', () => {
    const now = document.documentElement.dataset.theme ||
      (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    setTheme(now === 'dark' ? 'light' : 'dark');
  });
}

/* ---- live ---- */

async function refresh() {
  const fresh = new DOMParser().parseFromString(await ask('/'), 'text/html');
  const open = [...document.querySelectorAll('#overview details')].map(d => d.open);
  const same = document.querySelectorAll('#overview details').length === fresh.querySelectorAll('#overview details').length;
  data = JSON.parse(fresh.getElementById('data').textContent);
  if (same) fresh.querySelectorAll('#overview details').forEach((d, i) => { d.open = open[i]; });
  $('overview').replaceChildren(...fresh.getElementById('overview').childNodes);
  drawFilters();
}

async function poll(last) {
  let state = last;
  try {
    state = await ask('/state');
    if (last !== null && state !== last) await refresh();
  } catch (e) { /* the server rests; ask again later */ }
  setTimeout(poll, 3000, state);
}

function start() {
  startTheme();
  startTimelines();
  addEventListener('beforeprint', () => document.querySelectorAll('.run, .paper').forEach(d => { d.open = true; }));
  if (startKernel()) return;
  data = readJson('data');
  if (!data) return; /* a page without attempts */
  drawFilters();
  addEventListener('hashchange', route);
  route();
  if (live) poll(null);
}
