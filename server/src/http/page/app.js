// The page: connect, log in, choose a message, send it, and see what comes back.

import { Answer } from './answer.js';
import { Connection } from './connection.js';
import { completed, requests, version } from './document.js';
import { byId, element } from './dom.js';
import { MessageForm, messageText } from './form.js';
import { addFrame, shown } from './frames.js';
import { LiveQueries } from './live.js';
import { asPython } from './python.js';

/** How large the pieces of an upload are. */
const PIECE = 1 << 20;

let connection;
let answer;
let live;
let form;
let login = { byKey: false, user: 'admin' };
let asked;
let number = 0;

/** Brings the page to life; with the credentials that it was opened with, if these are known: then it logs in with them. */
export function start(credentials = {}) {
  if (connection) return;
  answer = new Answer(byId('answer'));
  live = new LiveQueries(byId('live-panel'), (subscription) =>
    connection.send(JSON.stringify({ type: 'unsubscribe', id: `unsubscribe ${subscription}`, subscription })));
  connection = new Connection({
    state: showState,
    sent: (frame) => note('out', frame),
    received: (frame, message, request) => {
      note('in', frame);
      if (message === undefined) {
        if (!live.takeBytes(frame)) answer.takeBytes(frame);
      } else {
        greet(message);
        live.take(frame, message, request);
        answer.take(frame, message, request);
      }
      if (request && request === asked) showAnswer();
    },
  });
  byId('version').textContent = version;
  byId('address').value = new URL('../ws', location.href).href.replace(/^http/, 'ws').replace(/[?#].*$/, '');
  if (credentials.key) document.querySelector('[name=how][value=authenticate]').checked = true;
  byId('api-key').value = credentials.key ?? '';
  byId('user').value = credentials.user ?? '';
  byId('password').value = credentials.password ?? '';
  choose();
  for (const radio of document.querySelectorAll('[name=how]')) radio.addEventListener('change', choose);
  byId('connect-form').addEventListener('submit', (event) => {
    event.preventDefault();
    connect().then(logIn).catch(() => {});
  });
  byId('only-connect').addEventListener('click', () => connect().catch(() => {}));
  byId('disconnect').addEventListener('click', () => connection.close());
  byId('clear').addEventListener('click', () => {
    byId('frames').replaceChildren();
    byId('no-frames').hidden = false;
  });
  byId('kind').append(...requests.filter(({ kind }) => kind !== 'arrow').map(({ kind }) => element('option', { value: kind }, kind)));
  byId('kind').value = 'execute';
  byId('kind').addEventListener('change', changeKind);
  byId('example').addEventListener('change', showExample);
  byId('message-form').addEventListener('submit', send);
  byId('message-form').addEventListener('input', preview);
  byId('message-form').addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) byId('message-form').requestSubmit();
  });
  byId('copy').addEventListener('click', copy);
  changeKind();
  if (credentials.key ?? credentials.user) connect().then(logIn).catch(() => {});
}

const how = () => document.querySelector('[name=how]:checked').value;

function choose() {
  for (const part of document.querySelectorAll('[data-how]')) part.hidden = part.dataset.how !== how();
}

function connect() {
  const address = new URL(byId('address').value);
  const kg = byId('kg').value.trim();
  if (kg) address.searchParams.set('kg', kg);
  return connection.open(address.href);
}

function logIn() {
  const byKey = how() === 'authenticate';
  login = { byKey, user: byId('user').value };
  const credentials = byKey
    ? { type: 'authenticate', api_key: byId('api-key').value.trim() }
    : { type: 'login', username: login.user, password: byId('password').value };
  connection.send(JSON.stringify(credentials));
  preview();
}

function showState(text, name) {
  byId('state').textContent = text;
  byId('state').dataset.state = name;
  byId('disconnect').disabled = name === 'closed';
  if (name === 'closed' || name === 'connecting') live.lost();
}

function greet(message) {
  if (message.type === 'authenticated') {
    showState(`${message.role} on ${message.knowledge_graph}`, 'ready');
    byId('connect').open = false;
  }
  if (message.type === 'auth_error') byId('connect').open = true;
  if (message.switched_kg) showState(byId('state').textContent.replace(/on .*/, `on ${message.switched_kg}`), 'ready');
}

function note(direction, frame) {
  addFrame(byId('frames'), direction, frame);
  byId('no-frames').hidden = true;
}

function changeKind() {
  const request = requests.find(({ kind }) => kind === byId('kind').value);
  byId('summary').textContent = request.summary;
  const examples = request.examples.map(({ summary }, at) => element('option', { value: String(at) }, summary));
  byId('example').replaceChildren(element('option', { value: '' }, '—'), ...examples);
  form = new MessageForm(byId('fields'), request);
  form.upload = form.input('format') && request.kind === 'insert' ? uploadField() : undefined;
  if (form.upload) form.more.append(form.upload.parentElement);
  byId('schema').textContent = JSON.stringify(completed(request.payload), null, 2);
  byId('answers').replaceChildren(...request.answers.flatMap(({ title, summary }) => [element('dt', {}, title), element('dd', {}, summary)]));
  showExample();
}

/** The file of an `insert` with the format `arrow`. */
function uploadField() {
  const input = element('input', { id: 'field-arrow', type: 'file' });
  element('div', { class: 'field' }, element('label', { for: 'field-arrow' }, 'Arrow stream', element('span', { class: 'quiet' }, ' for the format arrow')), input);
  return input;
}

function showExample() {
  const { examples } = requests.find(({ kind }) => kind === form.kind);
  const chosen = byId('example').value;
  form.show(chosen === '' ? {} : examples[Number(chosen)].payload);
  const id = form.input('id');
  if (id && id.value === '') id.value = String(number += 1);
  preview();
}

/** Shows what would be sent. */
function preview() {
  byId('told').textContent = '';
  try {
    const given = form.read();
    byId('preview').textContent = shown(messageText(given));
    byId('python').textContent = python(given);
  } catch (problem) {
    byId('preview').textContent = problem.message;
    byId('python').textContent = '';
  }
}

function python(given) {
  const address = new URL(byId('address').value);
  return asPython(given, { url: `${address.protocol}//${address.host}`, kg: byId('kg').value.trim(), ...login });
}

async function send(event) {
  event.preventDefault();
  byId('told').textContent = '';
  try {
    if (!connection.isOpen) throw new Error('connect first');
    const given = form.read();
    asked = connection.send(messageText(given));
    showAnswer();
    if (given.get('format') === '"arrow"' && form.upload?.files[0]) await upload(form.upload.files[0]);
    const id = form.input('id');
    if (id && /^\d+$/.test(id.value)) id.value = String(number = Number(id.value) + 1);
  } catch (problem) {
    byId('told').textContent = problem.message;
    problem.input?.focus();
  }
}

/** Brings the answer into view, where it does not stand beside the form. */
function showAnswer() {
  const panel = byId('answer-panel');
  const { top, bottom } = panel.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) panel.scrollIntoView({ block: top < 0 || bottom - top > innerHeight ? 'start' : 'nearest' });
}

async function upload(file) {
  for (let at = 0; at < file.size; at += PIECE) connection.sendBytes(await file.slice(at, at + PIECE).arrayBuffer());
}

async function copy() {
  try {
    const text = python(form.read());
    byId('python').closest('details').open = true;
    byId('python').textContent = text;
    await navigator.clipboard.writeText(text);
    byId('told').textContent = 'copied';
  } catch (problem) {
    byId('told').textContent = problem.input ? problem.message : 'copy it from below: the browser does not let pages write to the clipboard here';
  }
}
