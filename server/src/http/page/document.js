// The AsyncAPI document, which the server has put into the page.

const asyncapi = JSON.parse(document.getElementById('asyncapi').textContent);
const messages = asyncapi.components.messages;

export const version = asyncapi.info.version;

const nameOf = (reference) => reference.$ref.split('/').at(-1);

/** The messages that a client may send, each with those that may answer it. */
export const requests = Object.values(asyncapi.operations)
  .filter((operation) => operation.action === 'receive' && nameOf(operation.channel) === 'ws')
  .map((operation) => {
    const kind = nameOf(operation.messages[0]);
    const answers = (operation.reply?.messages ?? []).map((reference) => messages[nameOf(reference)]);
    return { ...messages[kind], kind, answers };
  });

/** The paths of sockets. */
export const addresses = Object.values(asyncapi.channels).map((channel) => channel.address);

/** The schema itself, where this one only names it; words about a field win over words about its type. */
export function resolved(schema) {
  const [only] = schema.allOf?.length === 1 ? schema.allOf : [schema.$ref ? schema : undefined];
  if (!only?.$ref) return schema;
  return { ...resolved(asyncapi.components.schemas[nameOf(only)]), ...(schema.description && { description: schema.description }) };
}

/** The schema of a message, with that of everything that it names. */
export function completed(schema) {
  if (Array.isArray(schema)) return schema.map(completed);
  if (schema === null || typeof schema !== 'object') return schema;
  const own = resolved(schema);
  return Object.fromEntries(Object.entries(own).map(([key, value]) => [key, completed(value)]));
}

/** The names of fields that nobody but the server should see. */
export const secrets = new Set(requests.flatMap((request) => Object.entries(request.payload.properties ?? {})
  .filter(([, schema]) => resolved(schema).format === 'password')
  .map(([name]) => name)));
