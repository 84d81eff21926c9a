// Live queries: for each subscription a table that its deltas keep current.

import { errorBox } from './answer.js';
import { element } from './dom.js';
import { parseExactly, write } from './json.js';
import { MOST_ROWS, cell, count, table } from './table.js';

/** The subscriptions of a connection, and those that have ended, at one place of the page. */
export class LiveQueries {
  /** `unsubscribe(number)` asks the server to end one. */
  constructor(panel, unsubscribe) {
    this.panel = panel;
    this.unsubscribe = unsubscribe;
    this.queries = new Map();
  }

  /** Takes a text frame; those that are not about subscriptions change nothing. */
  take(text, message, request) {
    const query = this.queries.get(message.subscription);
    switch (message.type) {
      case 'subscribed': return this.begin(message, request);
      case 'delta': return this.change(query, text, message);
      case 'progress': return this.queries.forEach((each) => each.progress(message));
      case 'unsubscribed': return this.end(query, message);
      default: return undefined;
    }
  }

  /** Takes a binary frame; whether it belongs to a delta. */
  takeBytes(bytes) {
    const query = this.awaitsBytes;
    this.awaitsBytes = undefined;
    query?.takeBytes(bytes.byteLength);
    return query !== undefined;
  }

  begin(subscribed, request) {
    const query = new LiveQuery(subscribed, request, () => this.unsubscribe(subscribed.subscription));
    query.place.addEventListener('remove', () => {
      query.place.remove();
      this.panel.hidden = this.panel.querySelector('article') === null;
    });
    this.queries.set(subscribed.subscription, query);
    this.panel.append(query.place);
    this.panel.hidden = false;
  }

  change(query, text, delta) {
    if (delta.format === 'arrow') this.awaitsBytes = query;
    query?.take(text, delta);
  }

  end(query, { subscription, version, error }) {
    this.queries.delete(subscription);
    const since = version === undefined ? '' : ` since version ${version}`;
    query?.end(...(error
      ? [element('p', { class: 'problem' }, `Unsubscribed: there is no answer any more${since}.`), errorBox(error, query.request)]
      : [element('p', { class: 'good' }, 'Unsubscribed, as you have asked.')]));
  }

  /** The connection is gone, and with it all subscriptions. */
  lost() {
    this.queries.forEach((query) => query.end(element('p', { class: 'warning' }, 'The connection is closed.')));
    this.queries.clear();
  }
}

/** One of them. Its rows are told apart by their text, in which 1 is not 1.0. */
class LiveQuery {
  constructor({ subscription, columns, knowledge_graph: graph, version, resumed }, request, unsubscribe) {
    Object.assign(this, { subscription, columns, graph, version, request });
    this.isWhole = !resumed;
    this.rows = new Map();
    this.parts = [];
    this.begin();
    const params = request.params ? [' with ', element('code', {}, JSON.stringify(request.params))] : [];
    this.button = element('button', { type: 'button', onclick: unsubscribe }, 'Unsubscribe');
    this.state = element('p', { class: 'quiet', role: 'status' });
    this.content = element('div', {});
    this.place = element('article', { 'data-subscription': String(subscription) },
      element('div', { class: 'title' }, element('h3', {}, `${subscription}: `, element('code', {}, request.query), ...params), this.button),
      this.state, this.content);
    this.tell(resumed ? 'goes on; rows of before are not known here, so only those that come and go are shown' : 'waiting for the first rows');
  }

  /** What comes and goes is counted anew. */
  begin() {
    this.came = new Map();
    this.went = new Map();
  }

  /** Takes a part of a delta. */
  take(text, { format, from, version, reset, last }) {
    if (format === 'arrow') {
      this.version = version;
      return;
    }
    this.parts.push(parseExactly(text));
    if (!last) return;
    if (!reset && from !== this.version) {
      this.state.before(element('p', { class: 'problem', role: 'alert' }, `The server tells what came after version ${from}; known is version ${this.version}.`));
    }
    const all = (name) => this.parts.flatMap((part) => part[name] ?? []).map((row) => [write(row), row]);
    const [added, removed] = [all('added'), all('removed')];
    this.parts = [];
    this.version = version;
    if (this.isDrawn) this.begin();
    this.isDrawn = false;
    if (reset) this.replace(added);
    else this.apply(added, removed);
    this.draw();
  }

  replace(rows) {
    this.begin();
    this.rows = new Map(rows);
    this.isWhole = true;
  }

  apply(added, removed) {
    for (const [key, row] of removed) {
      this.rows.delete(key);
      if (!this.came.delete(key)) this.went.set(key, row);
    }
    for (const [key, row] of added) if (!this.went.delete(key)) this.came.set(key, row);
    // What is new is seen without scrolling.
    this.rows = new Map([...added, ...this.rows]);
  }

  /** Draws once, however many deltas come before the browser shows anything. */
  draw() {
    if (this.isAwaited) return;
    this.isAwaited = true;
    requestAnimationFrame(() => {
      this.isAwaited = false;
      this.isDrawn = true;
      const line = (row, attributes) => element('tr', attributes, ...row.map(cell));
      const went = [...this.went.values()].map((row) => line(row, { class: 'went' }));
      const here = [...this.rows].slice(0, MOST_ROWS).map(([key, row]) => line(row, this.came.has(key) ? { class: 'came' } : {}));
      this.content.replaceChildren(table(`Subscription ${this.subscription}`, this.columns, [...went.slice(0, MOST_ROWS), ...here]));
      this.tell(this.counted());
    });
  }

  counted() {
    const parts = this.isWhole ? [count(this.rows.size, 'row')] : [];
    if (this.rows.size > MOST_ROWS) parts.push(`the first ${MOST_ROWS} are shown`);
    for (const [rows, what] of [[this.came, 'came'], [this.went, 'went']]) if (rows.size > 0) parts.push(`${rows.size.toLocaleString('en')} ${what}`);
    return parts.join(', ');
  }

  takeBytes(size) {
    this.tell(`${count(size, 'byte')} of Arrow say what came and went; rows are shown with the format json`);
  }

  progress({ knowledge_graph: graph, version }) {
    if (graph === this.graph) this.tell(this.what, version);
  }

  tell(what, told) {
    this.what = what;
    const progress = told > this.version ? `; all is told up to version ${told}` : '';
    this.state.textContent = `Version ${this.version}: ${what}${progress}`;
  }

  /** Nothing comes any more: the rows stay, and above them is why. */
  end(...why) {
    this.place.classList.add('over');
    const remove = () => this.place.dispatchEvent(new Event('remove'));
    this.button.replaceWith(element('button', { type: 'button', onclick: remove }, 'Remove'));
    this.state.before(...why);
  }
}
