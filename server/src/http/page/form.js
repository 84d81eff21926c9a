// A form for a message, made from its schema. Its values are JSON text, so that numbers travel as they were typed.

import { resolved } from './document.js';
import { element } from './dom.js';

/** How a field is shown and read: `input`, `read()` to JSON text or undefined, and `show(value)`. */
function field(name, schema, required) {
  const id = `field-${name}`;
  if (schema.oneOf?.every((option) => 'const' in option)) return choice(id, schema, required);
  if (schema.type === 'boolean') return flag(id);
  if (schema.type === 'string' && schema.contentMediaType) return program(id);
  if (schema.type === 'string') return line(id, schema.format === 'password' ? 'password' : 'text');
  if (schema.type === 'integer') return integer(id);
  if (schema.anyOf) return textOrNumber(id);
  return json(id, schema.type === 'array' ? '[]' : '{}');
}

function choice(id, schema, required) {
  const options = schema.oneOf.map((option) => element('option', { value: option.const }, option.const));
  if (!required) options.unshift(element('option', { value: '' }, '—'));
  const input = element('select', { id }, ...options);
  return {
    input,
    read: () => (input.value === '' ? undefined : JSON.stringify(input.value)),
    show: (value) => { input.value = value ?? (required ? schema.oneOf[0].const : ''); },
  };
}

function flag(id) {
  const input = element('input', { id, type: 'checkbox' });
  return {
    input,
    read: () => (input.checked ? 'true' : undefined),
    show: (value) => { input.checked = value === true; },
  };
}

function program(id) {
  const input = element('textarea', { id, rows: 4, spellcheck: false, class: 'code' });
  return { input, read: () => JSON.stringify(input.value), show: (value) => { input.value = value ?? ''; } };
}

function line(id, type) {
  const input = element('input', { id, type, spellcheck: false, autocomplete: 'off' });
  return { input, read: () => JSON.stringify(input.value), show: (value) => { input.value = value ?? ''; } };
}

function integer(id) {
  const input = element('input', { id, inputMode: 'numeric', autocomplete: 'off' });
  return {
    input,
    read: () => {
      const text = input.value.trim();
      if (text === '') return undefined;
      if (!/^\d+$/.test(text)) throw new Error('a whole number is needed');
      return text;
    },
    show: (value) => { input.value = value ?? ''; },
  };
}

function textOrNumber(id) {
  const input = element('input', { id, spellcheck: false, autocomplete: 'off' });
  return {
    input,
    read: () => {
      const text = input.value.trim();
      if (text === '') return undefined;
      return /^(0|-?[1-9]\d*)$/.test(text) ? text : JSON.stringify(text);
    },
    show: (value) => { input.value = value ?? ''; },
  };
}

function json(id, empty) {
  const input = element('textarea', { id, rows: 2, spellcheck: false, class: 'code', placeholder: empty });
  return {
    input,
    read: () => {
      const text = input.value.trim();
      if (text === '') return undefined;
      try {
        JSON.parse(text);
      } catch (problem) {
        throw new Error(`this is not JSON: ${problem.message}`);
      }
      return text.replace(/\s*\n\s*/g, ' ');
    },
    show: (value) => { input.value = value === undefined ? '' : JSON.stringify(value); },
  };
}

/** Optional fields that are seldom needed are folded away. */
const OFTEN = new Set(['params', 'rows']);

/** The form of one type of message. */
export class MessageForm {
  constructor(place, request) {
    this.kind = request.kind;
    this.fields = [];
    place.replaceChildren();
    this.more = element('details', { class: 'more' }, element('summary', {}, 'More fields'));
    const required = new Set(request.payload.required ?? []);
    for (const [name, reference] of Object.entries(request.payload.properties ?? {})) {
      if (name === 'type') continue;
      const schema = resolved(reference);
      const made = { name, required: required.has(name), ...field(name, schema, required.has(name)) };
      this.fields.push(made);
      const isFolded = !made.required && !OFTEN.has(name);
      (isFolded ? this.more : place).append(labelled(made, schema));
    }
    if (this.more.children.length > 1) place.append(this.more);
    this.fields.forEach((each) => each.show(undefined));
  }

  /** Fills the form. */
  show(payload) {
    for (const each of this.fields) {
      each.show(payload[each.name]);
      if (each.name !== 'id' && each.name in payload) this.unfold(each.input);
    }
  }

  /** Makes an input visible. */
  unfold(input) {
    if (this.more.contains(input)) this.more.open = true;
  }

  /** The input of a field. */
  input(name) {
    return this.fields.find((each) => each.name === name)?.input;
  }

  /** The fields that are given, as JSON texts; throws, and marks them, when some are wrong. */
  read() {
    const given = new Map([['type', JSON.stringify(this.kind)]]);
    let wrong;
    for (const { name, input, read, required } of this.fields) {
      let problem;
      try {
        const text = read();
        if (text !== undefined) given.set(name, text);
        else if (required) problem = 'this is needed';
      } catch (error) {
        problem = error.message;
      }
      input.setAttribute('aria-invalid', String(problem !== undefined));
      const place = document.getElementById(`${input.id}-problem`);
      place.textContent = problem ?? '';
      place.hidden = problem === undefined;
      wrong ??= problem === undefined ? undefined : { name, problem, input };
    }
    if (wrong) this.unfold(wrong.input);
    if (wrong) throw Object.assign(new Error(`${wrong.name}: ${wrong.problem}`), { input: wrong.input });
    return given;
  }
}

function labelled({ name, input, required }, schema) {
  const about = element('small', { id: `${input.id}-about` }, schema.description ?? '');
  const problem = element('small', { id: `${input.id}-problem`, class: 'problem', hidden: true });
  input.setAttribute('aria-describedby', `${about.id} ${problem.id}`);
  if (required) input.setAttribute('aria-required', 'true');
  const label = element('label', { for: input.id }, name);
  if (!required) label.append(element('span', { class: 'quiet' }, ' optional'));
  const isFlag = input.type === 'checkbox';
  return element('div', { class: isFlag ? 'field flag' : 'field' }, ...(isFlag ? [input, label] : [label, input]), about, problem);
}

/** The JSON text of a message. */
export const messageText = (given) => `{${[...given].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
