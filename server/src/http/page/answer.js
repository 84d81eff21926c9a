// An answer for people: a table, an error with its places in the program, or a sentence.

import { element } from './dom.js';
import { parseExactly } from './json.js';
import { MOST_ROWS, cell, count, table } from './table.js';

/** Shows what comes in answer to requests, at one place of the page. */
export class Answer {
  constructor(place) {
    this.place = place;
  }

  /** Takes a text frame that answers `request`, or answers nothing. */
  take(text, message, request) {
    switch (message.type) {
      case 'result': return this.show(resultTable(parseExactly(text), message));
      case 'result_start': return this.begin(message);
      case 'result_chunk': return this.grow(text, message);
      case 'result_end': return this.end(message);
      case 'error': return this.show(errorBox(message, request));
      case 'auth_error': return this.show(element('p', { class: 'problem', role: 'alert' }, message.message));
      case 'ack': return this.show(element('p', { class: 'good' }, message.message));
      case 'subscribed': return this.show(element('p', { class: 'good' }, `Subscription ${message.subscription} has begun, and is shown among the live queries.`));
      case 'unsubscribed':
        return request && this.show(element('p', { class: 'good' }, `Subscription ${message.subscription} has ended.`));
      case 'pong': return this.show(element('p', { class: 'good' }, 'pong'));
      case 'authenticated':
        return this.show(element('p', { class: 'good' }, `Logged in as ${message.role}; the session is ${message.session_id}.`));
      default: return undefined;
    }
  }

  /** Takes a binary frame of a result. */
  takeBytes(bytes) {
    this.pieces?.push(bytes);
  }

  begin(start) {
    this.start = start;
    this.pieces = [];
    this.rows = [];
    this.provenance = [];
    this.show(element('p', { class: 'quiet' }, `Receiving ${start.total_count.toLocaleString('en')} rows …`));
  }

  grow(text, chunk) {
    const room = MOST_ROWS - this.rows.length;
    if (room <= 0) return;
    this.rows.push(...parseExactly(text).rows.slice(0, room));
    this.provenance.push(...(chunk.row_provenance ?? []).slice(0, room));
  }

  end(end) {
    if (this.start.format === 'arrow') {
      this.show(arrowFile(this.pieces, end));
    } else {
      const table = { columns: this.start.columns, rows: this.rows };
      this.show(resultTable(table, { ...this.start, ...end, row_provenance: this.provenance }));
    }
    this.pieces = undefined;
  }

  show(...content) {
    this.place.replaceChildren(...content);
  }
}

function resultTable({ columns, rows }, about) {
  const origins = about.row_provenance ?? [];
  const names = origins.length > 0 ? [...columns, 'from'] : columns;
  const body = rows.slice(0, MOST_ROWS).map((row, number) => {
    const cells = row.map(cell);
    if (origins.length > 0) cells.push(element('td', { class: 'quiet' }, origins[number]));
    return element('tr', {}, ...cells);
  });
  const warnings = (about.metadata?.warnings ?? []).map((warning) => element('p', { class: 'warning' }, `Warning: ${warning}`));
  const switched = about.switched_kg ? [element('p', { class: 'good' }, `The session is now on the graph ${about.switched_kg}.`)] : [];
  return element('div', {}, ...switched, ...warnings, table('Result', names, body, caption(rows, about)));
}

function caption(rows, about) {
  const parts = [count(about.row_count, 'row')];
  if (about.truncated) parts.push(`of ${about.total_count.toLocaleString('en')}`);
  if (rows.length < about.row_count || rows.length > MOST_ROWS) parts.push(`(the first ${MOST_ROWS} are shown)`);
  return `${parts.join(' ')} in ${about.execution_time_ms} ms`;
}

function arrowFile(pieces, end) {
  const file = new Blob(pieces, { type: 'application/vnd.apache.arrow.stream' });
  const link = element('a', { href: URL.createObjectURL(file), download: 'result.arrows' }, 'Save it as a file');
  const rows = `${end.row_count.toLocaleString('en')} rows as an Arrow stream of ${file.size.toLocaleString('en')} bytes. `;
  return element('p', { class: 'good' }, rows, link);
}

/** An error, with its places marked in the program that it is about. */
export function errorBox(error, request) {
  const program = request?.program ?? request?.query ?? request?.rule;
  const found = error.diagnostics ?? [error];
  const parts = found.map((each) => finding(each, program));
  const limit = error.limit ? [element('p', {}, `Limit ${error.limit.name}: ${error.limit.value.toLocaleString('en')}`)] : [];
  return element('div', { class: 'error', role: 'alert' }, element('p', {}, element('code', {}, error.code)), ...parts, ...limit);
}

function finding({ severity, message, help, span, labels }, program) {
  const where = span ? ` (line ${span.line}, column ${span.column})` : '';
  const parts = [element('p', { class: severity === 'warning' ? 'warning' : 'problem' }, message + where)];
  if (program !== undefined && span) parts.push(marked(program, span));
  for (const label of labels ?? []) {
    parts.push(element('p', { class: 'quiet' }, `${label.text} (line ${label.span.line}, column ${label.span.column})`));
  }
  if (help) parts.push(element('p', {}, `Help: ${help}`));
  return element('div', { class: 'finding' }, ...parts);
}

/** The program with one place marked. Places count in bytes of UTF-8. */
function marked(program, { offset, length }) {
  const bytes = new TextEncoder().encode(program);
  const part = (from, to) => new TextDecoder().decode(bytes.slice(from, to));
  const place = element('mark', length === 0 ? { class: 'point' } : {}, part(offset, offset + length));
  return element('pre', { tabIndex: 0 }, part(0, offset), place, part(offset + length));
}
