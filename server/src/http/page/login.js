// The form for credentials. It asks for the page again with them in a header, and puts it in its own place: they are in no
// address, no cookie and no storage, and no page of another site can have them sent.

const form = document.getElementById('login-form');
const refused = document.getElementById('refused');
const value = (id) => document.getElementById(id).value;
const byKey = () => form.querySelector('[name=how]:checked').value === 'authenticate';

document.getElementById('in-clear').hidden = window.isSecureContext;
form.addEventListener('change', choose);
choose();

function choose() {
  for (const part of form.querySelectorAll('[data-how]')) {
    part.hidden = (part.dataset.how === 'authenticate') !== byKey();
    for (const input of part.querySelectorAll('input')) input.required = !part.hidden;
  }
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const credentials = byKey() ? { key: value('api-key').trim() } : { user: value('user').trim(), password: value('password') };
  const button = form.querySelector('button');
  refused.hidden = true;
  button.disabled = true;
  try {
    await open(credentials);
  } catch (problem) {
    refused.textContent = problem.message;
    refused.hidden = false;
    button.disabled = false;
    document.getElementById(byKey() ? 'api-key' : 'password').focus();
  }
});

async function open(credentials) {
  const headers = { Authorization: authorization(credentials), Accept: 'application/json, text/html;q=0.1' };
  const answer = await fetch(location.href, { headers, cache: 'no-store', credentials: 'omit' });
  if (answer.status === 401) throw new Error(`This ${'key' in credentials ? 'key is not valid' : 'user has another password, or does not exist'}.`);
  if (!answer.ok) throw new Error((await answer.json()).error.message);
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  document.replaceChild(document.adoptNode(page.documentElement), document.documentElement);
  const { start } = await import('./app.js');
  start(credentials);
}

/** A key as Bearer, user and password as Basic, which is base64 of UTF-8. */
function authorization({ key, user, password }) {
  if (key !== undefined) return `Bearer ${key}`;
  return `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${password}`)))}`;
}
