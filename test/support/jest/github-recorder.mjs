import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env.GITHUB_RECORDS;
/** Requests and answers of the current test file, as lines of JSON. */
let lines = [];
/** What was recorded in this process, without its numbers, so that a thousand similar exchanges are one line. */
const known = new Set();
/** Longer answers are cut off: they are about limits, and need not be GitHub's. */
const longest = 1_000_000;

/** Notes each request of the service to any of the servers in this process that stand in for GitHub, and its answer. */
function note({ request, response }) {
  if (isEvent(request)) return noteEvent(request);
  if (!isForGitHub(request)) return;
  const sent = [];
  const push = request.push.bind(request);
  request.push = (chunk, encoding) => {
    // A copy, because the service frees the memory of what it has read.
    if (chunk !== null) sent.push(Buffer.from(chunk));
    return push(chunk, encoding);
  };
  const answered = [];
  for (const name of ['write', 'end']) {
    const method = response[name].bind(response);
    response[name] = (chunk, ...rest) => {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) answered.push(Buffer.from(chunk));
      return method(chunk, ...rest);
    };
  }
  response.once('close', () => {
    const { authorization, accept, 'x-github-api-version': version } = request.headers;
    const isWhole = response.writableFinished && answered.reduce((sum, { length }) => sum + length, 0) < longest;
    keep({
      method: request.method,
      url: request.url,
      token: kindOf(authorization),
      accept,
      version,
      body: Buffer.concat(sent).toString('utf8'),
      ...(isWhole ? answerOf(response, Buffer.concat(answered).toString('utf8')) : {}),
    });
  });
}

/** The emulator sends events as GitHub does. Tests that send their own do not claim to be GitHub. */
const isEvent = ({ headers }) => /^GitHub-Hookshot/.test(headers['user-agent'] ?? '');

function noteEvent(request) {
  const sent = [];
  const push = request.push.bind(request);
  request.push = (chunk, encoding) => {
    // A copy, because the service frees the memory of what it has read.
    if (chunk !== null) sent.push(Buffer.from(chunk));
    else keep({ event: request.headers['x-github-event'], body: Buffer.concat(sent).toString('utf8') });
    return push(chunk, encoding);
  };
}

const answerOf = (response, text) => ({
  status: response.statusCode,
  type: response.getHeader('content-type') ?? contentTypeOf(response),
  location: response.getHeader('location') ?? headerOf(response, 'location'),
  text,
});

/** `writeHead` does not store headers that are given to it in an object; they are only in the sent head. */
const headerOf = (response, name) => new RegExp(`^${name}: *(.*?)\r?$`, 'im').exec(response._header ?? '')?.[1];
const contentTypeOf = (response) => headerOf(response, 'content-type');

/** The stand-ins ask each other without these headers. Signing in is not part of the REST API. */
function isForGitHub({ headers, url }) {
  const isOurs = /octokit|probot|deckhand\//.test(headers['user-agent'] ?? '') || 'x-github-api-version' in headers;
  return isOurs && !/\/login\/oauth\//.test(url);
}

function kindOf(authorization) {
  if (authorization === undefined) return 'none';
  if (/^bearer eyJ/i.test(authorization)) return 'app';
  return /^(token|bearer) ghs_/i.test(authorization) ? 'installation' : 'user';
}

function keep(exchange) {
  const line = JSON.stringify(exchange);
  const kind = line.replace(/[0-9a-f]{7,}|\d+/g, '0');
  if (known.has(kind)) return;
  known.add(kind);
  lines.push(exchange);
}

/** Writes what was recorded during a test file. */
export function writeRecords(testPath) {
  if (folder === undefined || lines.length === 0) return;
  const text = lines.map((each) => `${JSON.stringify({ file: testPath, ...each })}\n`).join('');
  appendFileSync(join(folder, `${process.pid}.jsonl`), text);
  lines = [];
}

if (folder !== undefined) subscribe('http.server.request.start', note);
