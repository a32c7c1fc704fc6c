/* Second part: one attempt, and the page of a single kernel. */

function fact(name, value) {
  return node('div', node('span.k', name), value instanceof Node ? value : visible(String(value)));
}

/* Comments, strings and words of the languages shown here (AscendC, Craft, Python). Whatever is not one of them stays
 * plain text; a comment over several lines is coloured where its lines start with a star. */
const PARTS = /(\/\/.*|\/\*.*?(?:\*\/|$)|^\s*\*.*|#.*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(if|else|for|while|do|return|struct|class|template|typename|void|bool|int|float|half|double|auto|const|static|inline|extern|using|namespace|public|private|switch|case|break|continue|def|import|from|as|in|not|and|or|with|kernel|host|launch|u?int(?:8|16|32|64)_t|True|False|None|nullptr|true|false)\b/g;

function colouredLine(line) {
  const parts = [];
  let at = 0;
  for (const found of line.matchAll(PARTS)) {
    const directive = found[1] && /^#\s*(include|define|if|ifdef|ifndef|endif|else|pragma|line)\b/.test(found[1]);
    parts.push(line.slice(at, found.index), node(found[1] && !directive ? 'span.c' : found[2] ? 'span.s' : 'span.w', found[0]));
    at = found.index + found[0].length;
  }
  parts.push(line.slice(at));
  return parts.filter(part => part !== '');
}

function sourceNode(text, marked) {
  const box = node('div.source');
  box.tabIndex = 0; /* it scrolls: keys must reach it */
  visible(text).replace(/\n$/, '').split('\n').forEach((line, i) => {
    box.append(node(marked.has(i + 1) ? 'div.hit' : 'div', colouredLine(line)));
  });
  return box;
}

/* Lines of a file that findings or diagnostics name. */
function markedLines(cases, said, path) {
  const lines = new Set(), file = path.split('/').pop();
  for (const kase of cases)
    for (const finding of (kase.verdict ? kase.verdict.hazards : []))
      if (finding.line && (!finding.file || finding.file.endsWith(file))) lines.add(finding.line);
  for (const [, where, line] of (said || '').matchAll(/^(\S+?):(\d+):\d+: (?:error|warning)/gm))
    if (where.endsWith(file)) lines.add(Number(line));
  return lines;
}

function filesNode(files, cases, said) {
  const box = node('div'), tabs = node('div.tabs');
  const open = async index => {
    [...tabs.children].forEach((tab, i) => tab.setAttribute('aria-selected', i === index));
    const text = await textOf(files[index][1]);
    const shown = text === null ? node('p.soft', 'The text is not in this file; acraft report --serve shows it.')
      : sourceNode(text, markedLines(cases, said, files[index][0]));
    box.replaceChildren(tabs, shown);
  };
  files.forEach(([path], index) => {
    const tab = node('button', visible(path));
    tab.type = 'button';
    tab.addEventListener('click', () => open(index));
    tabs.append(tab);
  });
  box.append(tabs);
  open(0);
  return box;
}

/* ---- verdicts ---- */

function findingNode(finding) {
  const where = finding.file || finding.line ? (finding.file || '') + (finding.line ? ':' + finding.line : '') : '';
  const box = node('div.finding', node('div', node('b', visible(finding.message)), ' ',
    node('code', finding.kind + ' ' + visible(finding.code))));
  if (where) box.append(node('div.soft', visible(where) + (finding.count > 1 ? ', ' + finding.count + ' times' : '')));
  if (finding.device) box.append(node('div', 'On the device: ' + visible(finding.device)));
  if (finding.repair) box.append(node('div', 'Repair: ' + visible(finding.repair)));
  return box;
}

function badNode(bad) {
  return node('p', 'First wrong element: ' + visible(String(bad.tensor)) + '[' + bad.index + '] is ' + short(bad.got) +
    ', should be ' + short(bad.want) + '.');
}

const HEAD = [['case', 1], ['verdict', 1], ['shapes', 0], ['max abs. error', 0], ['max rel. error', 1], ['predicted', 1], ['bound', 0],
  ['proved', 0], ['checked at run time', 0]]; /* 1: on narrow pages too */

function caseRow(kase) {
  const v = kase.verdict || {};
  return node('tr', node('td', visible(kase.name)), node('td', statusNamed(kase.status)),
    node('td.small.narrow-off', visible(kase.shapes || '')), node('td.n.narrow-off', short(v.max_abs_err)), node('td.n', short(v.max_rel_err)),
    node('td.n', time(v.predicted_us)), node('td.n.narrow-off', time(v.bound_us)), node('td.n.narrow-off', String(v.proved ?? '-')), node('td.n.narrow-off', String(v.watched ?? '-')));
}

function casesNode(cases) {
  const box = node('div', node('div.wide', node('table', node('thead', node('tr', HEAD.map(([text, always]) => node(always ? 'th' : 'th.narrow-off', text)))),
    node('tbody', cases.map(caseRow)))));
  for (const kase of cases) {
    const v = kase.verdict;
    if (!v || (!v.reason && !v.hazards.length && !v.first_bad)) continue;
    box.append(node('h3', visible(kase.name)), v.reason ? node('p', visible(v.reason)) : null);
    if (v.first_bad) box.append(badNode(v.first_bad));
    v.hazards.forEach(finding => box.append(findingNode(finding)));
  }
  return box;
}

/* Errors of the cases on one logarithmic line. */
function errorPlot(cases) {
  const points = cases.filter(k => k.verdict && typeof k.verdict.max_rel_err === 'number');
  if (!points.length) return null;
  const svg = (name, attributes, text) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', name);
    Object.entries(attributes).forEach(([key, value]) => e.setAttribute(key, value));
    if (text) e.textContent = text;
    return e;
  };
  const width = 480, x = err => 40 + 420 * Math.min(1, Math.max(0, (Math.log10(err || 1e-10) + 10) / 12));
  const height = 34 + 20 * points.length;
  const plot = svg('svg', {class: 'plot', viewBox: `0 0 ${width + 60} ${height}`, role: 'img'});
  for (let e = -10; e <= 2; e += 2) {
    plot.append(svg('path', {class: 'grid', d: `M${x(10 ** e)} 8V${height - 22}`}));
    plot.append(svg('text', {class: 'mid', x: x(10 ** e), y: height - 8}, e === -10 ? '0' : '1e' + e));
  }
  points.forEach((kase, i) => {
    const y = 18 + 20 * i, dot = svg('circle', {class: kase.status === 'ok' ? 'right' : 'wrong', cx: x(kase.verdict.max_rel_err), cy: y, r: 4});
    dot.append(svg('title', {}, kase.name + ': ' + kase.verdict.max_rel_err));
    plot.append(dot, svg('text', {x: width - 8, y: y + 4}, kase.name.slice(0, 12)));
  });
  return [node('h3', 'Largest relative error of each case'), plot];
}

/* ---- time ---- */

function pipesNode(verdict) {
  const rows = verdict.pipes.map(pipe => {
    const bar = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    bar.setAttribute('class', 'bar');
    bar.setAttribute('viewBox', '0 0 100 8');
    bar.setAttribute('preserveAspectRatio', 'none');
    for (const [css, width] of [['rail', 100], ['fill', 100 * Math.min(1, pipe.share)]]) {
      const rect = document.createElementNS(bar.namespaceURI, 'rect');
      rect.setAttribute('class', css);
      rect.setAttribute('width', width);
      rect.setAttribute('height', 8);
      bar.append(rect);
    }
    return node('tr', node('td', visible(pipe.name)), node('td', bar), node('td.n', (100 * pipe.share).toFixed(0) + ' %'),
      node('td.n.soft', Math.round(pipe.cycles) + ' cycles'));
  });
  return node('div', node('table.pipes', node('tbody', rows)));
}

async function timeNode(kase) {
  const v = kase.verdict;
  const box = node('div', node('h3', 'Pipelines, ' + visible(kase.name) + (v.predicted_us ? ': ' + time(v.predicted_us) + ' predicted' : '')));
  const text = await textOf(kase.timeline, '/timeline/');
  if (text) box.append(timelineNode(JSON.parse(text)));
  else box.append(pipesNode(v), node('p.soft.note', 'Busy share of each pipe on the busiest core; ' +
    (kase.left_out ? 'the timeline did not fit into this page: acraft report --serve shows it.' : 'no trace was stored for this case.')));
  return box;
}

/* ---- the conversation ---- */

const ROLES = {system: 'instructions', user: 'asked', assistant: 'the model, before'};

function messagesOf(prompt) {
  try {
    const list = JSON.parse(prompt);
    if (Array.isArray(list)) return list.map(m => [ROLES[m.role] || String(m.role), typeof m.content === 'string' ? m.content : JSON.stringify(m.content)]);
  } catch (e) { /* cut, or not JSON: shown as it is */ }
  return [['prompt', prompt]];
}

function foldedNode(title, body) {
  return node('details', node('summary', title), node('pre', visible(body)));
}

function promptNode(prompt) {
  const messages = messagesOf(prompt), all = messages.reduce((sum, m) => sum + m[1].length, 0);
  return node('div.say', node('details', node('summary', 'to the model: ' + messages.length + ' messages, ' + all + ' characters'),
    messages.map(([who, body]) => foldedNode(who + ', ' + body.length + ' characters', body))));
}

function answerNode(answer, detail) {
  const who = node('div.who', node('span', visible(detail.model || detail.generator || 'answer')));
  if (detail.tokens && detail.tokens[1] >= 0) who.append(node('span', detail.tokens[0] + ' tokens in, ' + detail.tokens[1] + ' out'));
  const end = answer.lastIndexOf('</think>');
  const box = node('div.say.model', who);
  if (end >= 0) box.append(foldedNode('thinking, ' + end + ' characters', answer.slice(0, end)));
  box.append(node('pre', visible(end >= 0 ? answer.slice(end + 8) : answer)));
  return box;
}

async function turnNode(row, detail) {
  const turn = row[COLUMN.turn], box = node('div.turn');
  const [prompt, answer, said] = await Promise.all([detail.prompt, detail.answer, detail.said].map(r => textOf(r)));
  if (prompt) box.append(promptNode(prompt));
  if (answer) box.append(answerNode(answer, detail));
  const judge = node('div.say.judge', node('div.who', 'acraft, turn ' + turn), statusNode(row[COLUMN.status]));
  if (said) judge.append(node('pre', visible(said)));
  else if (detail.reason) judge.append(node('pre', visible(detail.reason)));
  box.append(judge);
  return box;
}

async function conversationNode(rows) {
  const box = node('section', node('h2', rows.length > 1 ? 'Conversation, ' + rows.length + ' turns' : 'Conversation'));
  let any = rows.length > 1;
  for (const row of rows) {
    const detail = await detailOf(row);
    if (!detail) continue;
    any = any || detail.prompt !== null || detail.answer !== null;
    if (any) box.append(await turnNode(row, detail));
  }
  return any ? box : null;
}

/* ---- the view ---- */

function crumbs(row, turns) {
  const back = node('a', '← all attempts');
  back.href = '#';
  const box = node('nav.crumbs', back);
  if (turns.length > 1)
    for (const other of turns) {
      const link = node('a', 'turn ' + other[COLUMN.turn]);
      link.href = '#a' + other[COLUMN.id];
      box.append(other === row ? node('b', link.textContent) : link);
    }
  return box;
}

function factsNode(row, detail) {
  const predicted = row[COLUMN.predicted], bound = row[COLUMN.bound], baseline = row[COLUMN.baseline];
  const box = node('div.facts', fact('verdict', statusNode(row[COLUMN.status])), fact('predicted time', time(predicted)), fact('memory bound', time(bound)));
  if (predicted && bound) box.append(fact('of the bound', (100 * bound / predicted).toFixed(0) + ' %'));
  if (baseline) box.append(fact('baseline, measured', time(baseline)));
  if (predicted && baseline) box.append(fact('predicted against it', (baseline / predicted).toPrecision(3) + '×'));
  for (const [name, key] of [['form', 'form'], ['judged by', 'rule'], ['from', 'provenance'], ['licence', 'licence'], ['acraft lacks', 'lacks']])
    if (detail && detail[key]) box.append(fact(name, detail[key]));
  return box;
}

async function bodyNodes(detail) {
  const timed = detail.cases.filter(k => k.verdict && (k.timeline !== null || k.verdict.pipes.length));
  const drawn = timed.filter(k => k.timeline !== null || k.left_out);
  const times = await Promise.all([...new Set([...drawn.slice(0, 1), ...timed.slice(-1)])].map(timeNode));
  const said = await textOf(detail.said);
  const alone = await textOf(detail.timeline);
  if (alone) times.push(timelineNode(JSON.parse(alone)));
  return [detail.cases.length ? node('section', node('h2', 'Verdicts'), casesNode(detail.cases), errorPlot(detail.cases)) : null,
    times.length ? node('section', node('h2', 'Time'), times) : null,
    detail.files.length ? node('section', node('h2', 'Source'), filesNode(detail.files, detail.cases, said)) : null];
}

async function showAttempt(row) {
  const hash = location.hash, [name, category] = data.tasks[row[COLUMN.task]];
  const same = data.rows.filter(r => r[COLUMN.run] === row[COLUMN.run] && r[COLUMN.task] === row[COLUMN.task] && r[COLUMN.sample] === row[COLUMN.sample]);
  const head = [crumbs(row, same), node('h1', visible(name)), node('p.soft', visible(category + ' · ' + data.runs[row[COLUMN.run]]) +
    ' · sample ' + row[COLUMN.sample] + (same.length > 1 ? ' · turn ' + row[COLUMN.turn] : ''))];
  const reason = data.reasons[row[COLUMN.reason]];
  $('attempt').replaceChildren(...head);
  try {
    const detail = await detailOf(row);
    const body = detail ? [...await bodyNodes(detail), await conversationNode(same)]
      : [node('p', 'The details of this attempt did not fit into this file; acraft report --serve, or --run with fewer runs, shows them.')];
    if (location.hash !== hash) return;
    $('attempt').replaceChildren(...[...head, factsNode(row, detail), reason ? node('p', visible(reason)) : null, ...body].filter(Boolean));
    $('attempt').dispatchEvent(new Event('shown'));
  } catch (error) {
    $('attempt').append(node('p', 'This attempt cannot be shown: ' + error.message));
  }
}

/* The page of one kernel has its detail in full and no list. */
function startKernel() {
  const kernel = readJson('kernel');
  if (!kernel) return false;
  data = {statuses: kernel.statuses, rows: []};
  const place = $('attempt');
  place.hidden = false;
  bodyNodes(kernel.detail).then(nodes => place.replaceChildren(...nodes.filter(Boolean)));
  return true;
}
