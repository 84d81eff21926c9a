// The first page: by which address the server is reached from here, and how it is.

const address = location.origin.replace(/^http/, 'ws');
for (const place of document.getElementsByClassName('address')) place.textContent = address;

const health = document.getElementById('health');
try {
  const { data } = await (await fetch('health', { cache: 'no-store' })).json();
  health.textContent = `It is ${data.status}, and its version is ${data.version}.`;
  health.className = data.status === 'healthy' ? 'good' : 'warning';
} catch {
  health.textContent = 'It does not answer at the moment.';
  health.className = 'warning';
}
