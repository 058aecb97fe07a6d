import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env.GITHUB_RECORDS;
/** Requests of the current test file, as lines of JSON. */
let lines = [];
/** The shapes that were recorded in this process. */
const known = new Set();
/** Longer texts are cut off: no field that has a list of values is that long. */
const longest = 60;

/** Notes each request that the client library of model servers sends to a server in this process. */
function note({ request }) {
  const [, path] = /\/(responses|chat\/completions)$/.exec(request.url ?? '') ?? [];
  if (path === undefined || request.method !== 'POST' || !/^OpenAI\/JS/.test(request.headers['user-agent'] ?? ''))
    return;
  const sent = [];
  const push = request.push.bind(request);
  request.push = (chunk, encoding) => {
    if (chunk !== null) sent.push(chunk);
    return push(chunk, encoding);
  };
  request.once('end', () => keep(path === 'responses' ? 'responses' : 'chat', Buffer.concat(sent).toString('utf8')));
}

function keep(api, text) {
  const body = parsed(text);
  if (body === undefined) return;
  const shape = `${api} ${shapeOf(body)}`;
  if (known.has(shape)) return;
  known.add(shape);
  lines.push({
    api,
    body: JSON.stringify(body, (_, value) => (typeof value === 'string' ? value.slice(0, longest) : value)),
  });
}

/** A client that was killed while it sent has no complete body. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Fields whose values are part of the shape. */
const telling = new Set(['type', 'role', 'effort', 'reasoning_effort', 'include', 'detail', 'status']);

/** Describes the fields of a value and their types, so that a thousand similar requests are recorded once. */
function shapeOf(value, name = '') {
  if (Array.isArray(value)) return `[${[...new Set(value.map((each) => shapeOf(each, name)))].sort()}]`;
  // The schemas of tools may have any field.
  if (name === 'parameters' || typeof value !== 'object' || value === null)
    return telling.has(name) ? String(value) : value === null ? 'null' : typeof value;
  return `{${Object.entries(value).map(([key, each]) => `${key}:${shapeOf(each, key)}`)}}`;
}

/** Writes what was recorded during a test file. */
export function writeModelRecords(testPath) {
  if (folder === undefined || lines.length === 0) return;
  const text = lines.map((each) => `${JSON.stringify({ file: testPath, ...each })}\n`).join('');
  appendFileSync(join(folder, `${process.pid}.models`), text);
  lines = [];
}

if (folder !== undefined) subscribe('http.server.request.start', note);
