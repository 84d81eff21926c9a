// The list of frames, newest first.

import { secrets } from './document.js';
import { element } from './dom.js';
import { parseExactly, write } from './json.js';

/** The most frames that are kept. */
const MOST = 500;
/** The longest text that is shown in full. */
const LONGEST = 20000;

/** Adds a frame to the list: a text, or bytes. */
export function addFrame(list, direction, frame) {
  const isText = typeof frame === 'string';
  const size = isText ? new TextEncoder().encode(frame).length : frame.byteLength;
  const name = isText ? JSON.parse(frame).type ?? 'no type' : 'arrow';
  const heading = element('summary', {},
    element('span', { class: 'arrow', 'aria-label': direction === 'out' ? 'sent' : 'received' }, direction === 'out' ? '→' : '←'),
    element('time', {}, timeOfDay(new Date())),
    element('b', {}, name),
    element('span', { class: 'quiet' }, `${size.toLocaleString('en')} bytes`));
  const details = element('details', {}, heading);
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1) details.append(element('pre', { tabIndex: 0 }, isText ? shown(frame) : hex(frame)));
  });
  list.prepend(element('li', { class: direction, 'data-type': name }, details));
  while (list.children.length > MOST) list.lastChild.remove();
}

/** The text of a message for people, without its secrets. */
export function shown(text) {
  const message = parseExactly(text);
  for (const name of secrets) if (name in message) message[name] = '•••';
  const written = write(message);
  return written.length > LONGEST ? `${written.slice(0, LONGEST)}\n…` : written;
}

function hex(bytes) {
  const beginning = [...new Uint8Array(bytes.slice(0, 256))];
  const text = beginning.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
  return bytes.byteLength > 256 ? `${text} …` : text;
}

function timeOfDay(date) {
  return date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 });
}
