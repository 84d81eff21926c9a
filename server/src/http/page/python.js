// A message as a Python program that sends it, with our client where that has a call for it.

/** Where the session is, and how it was opened. */
export function asPython(given, { url, kg, user, byKey }) {
  const kind = JSON.parse(given.get('type'));
  const call = CALLS[kind]?.(new Map([...given].map(([name, text]) => [name, literal(text)])));
  if (call === undefined) return rawPython(given, { url, kg, user, byKey });
  const login = [JSON.stringify(url)];
  if (!byKey) login.push(`user=${JSON.stringify(user)}`, 'password=os.environ["STRATALOG_PASSWORD"]');
  if (kg) login.push(`kg=${JSON.stringify(kg)}`);
  const key = byKey ? ['# The API key is in the environment variable SERVICE_API_KEY.'] : [];
  const body = call.map((line) => `    ${line}`);
  return [...(byKey ? [] : ['import os', '']), 'import stratalog', '', ...key, `with stratalog.connect(${login.join(', ')}) as db:`, ...body, ''].join('\n');
}

/** What our client calls each message; each value is the source of a Python literal. */
const CALLS = {
  login: () => ['print(db.session)'],
  authenticate: () => ['print(db.session)'],
  ping: () => ['print(db.ping())'],
  execute: (given) => {
    const more = seconds(given);
    if (given.has('limit')) more.push(`limit=${given.get('limit')}`);
    const isAtomic = given.get('atomic') === 'True';
    // `query` has a limit, `execute` may be atomic.
    if (isAtomic && given.has('limit')) return undefined;
    const name = isAtomic ? 'execute' : 'query';
    if (isAtomic) more.push('atomic=True');
    const params = given.has('params') ? [given.get('params')] : [];
    return [`print(db.${name}(${[given.get('program'), ...params, ...more].join(', ')}))`];
  },
  query: (given) => [`print(db.query(${given.get('query')}))`],
  subscribe: (given) => {
    const params = given.has('params') ? `, ${given.get('params')}` : '';
    return [
      `with db.live(${given.get('query')}${params}) as live:`,
      '    for change in live:',
      '        print(change.version, change.added, change.removed)',
    ];
  },
  add_rule: (given) => [`print(db.execute(${given.get('rule')}))`],
  insert: (given) => {
    if (!given.has('rows')) return undefined;
    const scope = given.has('scope') ? `, scope=${given.get('scope')}` : '';
    return [`print(db.insert(${given.get('relation')}, ${given.get('rows')}${scope}))`];
  },
  insert_facts: (given) => [`print(db.insert(${given.get('relation')}, ${given.get('tuples')}, scope="session"))`],
};

function seconds(given) {
  return given.has('timeout_ms') ? [`timeout=${Number(given.get('timeout_ms')) / 1000}`] : [];
}

/** The same frames without our client. */
function rawPython(given, { url, kg, user, byKey }) {
  const credentials = byKey
    ? '{"type": "authenticate", "api_key": os.environ["SERVICE_API_KEY"]}'
    : `{"type": "login", "username": ${JSON.stringify(user)}, "password": os.environ["STRATALOG_PASSWORD"]}`;
  const message = [...given].map(([name, text]) => `${JSON.stringify(name)}: ${literal(text)}`).join(', ');
  const address = `${url}/ws${kg ? `?kg=${encodeURIComponent(kg)}` : ''}`;
  const isUpload = JSON.parse(given.get('type')) === 'insert';
  return [
    'import json',
    'import os',
    ...(isUpload ? ['import pathlib'] : []),
    '',
    'from websockets.sync.client import connect',
    '',
    `with connect(${JSON.stringify(address)}, max_size=None) as socket:`,
    `    socket.send(json.dumps(${credentials}))`,
    '    print(socket.recv())',
    `    socket.send(json.dumps({${message}}))`,
    ...(isUpload ? ['    socket.send(pathlib.Path("rows.arrows").read_bytes())  # an Arrow IPC stream'] : []),
    '    print(socket.recv())',
    '',
  ].join('\n');
}

/** The Python literal of a JSON text. Numbers stay as they were typed, and text of several lines stays readable. */
export function literal(json) {
  return json.replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (token) =>
    ({ true: 'True', false: 'False', null: 'None' })[token] ?? textLiteral(JSON.parse(token)));
}

function textLiteral(text) {
  const isPlain = !/[\\\p{Cc}]|"""|"$/u.test(text.replaceAll('\n', ''));
  return text.includes('\n') && isPlain ? `"""\\\n${text}"""` : JSON.stringify(text);
}
