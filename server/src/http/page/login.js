// The form for an API key. It asks for the page again with the key, and puts it in its own place.

const form = document.getElementById('key-form');
const refused = document.getElementById('refused');

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const key = document.getElementById('key').value.trim();
  refused.hidden = true;
  try {
    await open(key);
  } catch (problem) {
    refused.textContent = problem.message;
    refused.hidden = false;
    document.getElementById('key')?.focus();
  }
});

async function open(key) {
  const headers = { Authorization: `Bearer ${key}`, Accept: 'application/json, text/html;q=0.1' };
  const answer = await fetch(location.href, { headers, cache: 'no-store' });
  if (answer.status === 401) throw new Error('This key is not valid.');
  if (!answer.ok) throw new Error((await answer.json()).error.message);
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  document.replaceChild(document.adoptNode(page.documentElement), document.documentElement);
  const { start } = await import('./app.js');
  start(key);
}
