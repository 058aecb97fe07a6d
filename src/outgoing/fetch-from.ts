import { AnswerRefused } from '../errors.ts';
import type { Proxies } from '../host/proxies.ts';
import { type AnswerLimits, boundedFetch, withinOrigin } from './bounded-fetch.ts';
import { type AddressOf, patientFetch, pinnedFetch } from './pinned-fetch.ts';
import { readInParts } from './smaller-pages.ts';

/** The response had this status, which is not a success. */
export class HttpFailed extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`HTTP ${status}`);
    this.status = status;
  }
}

const maxRedirects = 3;

/**
 * Follows up to three redirects to any host, and returns the successful response. `send` sends one request; it checks
 * the address and decides what each host may see.
 * @throws HttpFailed for other responses
 */
export async function followRedirects(from: URL, send: (at: URL) => Promise<Response>): Promise<Response> {
  let at = from;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const answer = await send(at);
    const location = answer.headers.get('location');
    if (answer.ok) return answer;
    if (answer.status < 300 || answer.status > 399 || location === null) throw new HttpFailed(answer.status);
    if (!URL.canParse(location, at.href)) throw new Error('redirects to an invalid address');
    at = new URL(location, at);
  }
  throw new Error('redirects too often');
}

/**
 * Limits on the responses of model servers. An agent may be allowed up to 200,000 tokens, about 1 MB of text. JSON may
 * need six bytes for a character, and a stream adds about 250 bytes to each token.
 */
const modelAnswers = {
  maxBytes: 4_000_000,
  maxValues: 100_000,
  events: { maxBytes: 64_000_000, maxEvents: 400_000, maxEventBytes: 4_000_000 },
};

/**
 * Limits on the responses of GitHub. A page of 100 comments with 65,536 four-byte characters each has 26 MB. GitHub
 * itself aborts a request after 10 s.
 */
const githubAnswers: AnswerLimits = { maxBytes: 32_000_000, maxMs: 20_000 };

/**
 * Returns a `fetch` for a model server, which may take `seconds` for one response. A stream that is silent for half of
 * them has broken: models that think send nothing for minutes, and the rest of the time is for one more try.
 */
export function fetchFromModel(
  seconds: number,
  { maxSilenceMs = seconds * 500, proxies }: { maxSilenceMs?: number; proxies?: Proxies } = {},
): typeof fetch {
  const events = { ...modelAnswers.events, maxSilenceMs };
  return boundedFetch({ ...modelAnswers, events, maxMs: seconds * 1000 }, withinOrigin(patientFetch(proxies)));
}

/** The newest version of GitHub's REST API that the tests validated our requests against (test/truth). */
export const githubApiVersion = '2026-03-10';

/**
 * The version for GitHub Enterprise Server: releases before 3.21 refuse newer versions with 400, and all of them accept
 * this one. Requests do not differ between the two versions, and of the responses we read no field that only one has.
 */
const enterpriseApiVersion = '2022-11-28';

/**
 * Returns a `fetch` for GitHub; see `changesInPlace`. Every request names the version of the API, and the media type unless it has one of its
 * own. Node's `fetch` knows no proxies; what goes through one is not compressed.
 */
export function fetchFromGitHub(proxies: Proxies): typeof fetch {
  const through = patientFetch(proxies);
  const send: typeof fetch = (input, init) => {
    const isDirect = input instanceof Request || proxies.find(new URL(input)) === undefined;
    return isDirect ? fetch(input, init) : through(input, init);
  };
  const ask = changesInPlace(boundedFetch(githubAnswers, withinOrigin(send)));
  return async (input, init = {}) => {
    const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined));
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const isEnterprise = /\/api\/(v3|graphql)(\/|$)/.test(pathname);
    headers.set('X-GitHub-Api-Version', isEnterprise ? enterpriseApiVersion : githubApiVersion);
    // Octokit asks for this older name of the same media type.
    if ([null, 'application/vnd.github.v3+json'].includes(headers.get('accept')))
      headers.set('Accept', 'application/vnd.github+json');
    const send = (to: Parameters<typeof fetch>[0]) => ask(to, { ...init, headers });
    return input instanceof Request || (init.method ?? 'GET') !== 'GET' ? send(input) : readPage(String(input), send);
  };
}

/** Reads an address. A page of a list that is too large is read in smaller ones. */
async function readPage(address: string, read: (address: string) => Promise<Response>): Promise<Response> {
  try {
    return await read(address);
  } catch (error) {
    const page = await readInParts(error, address, read);
    if (page === undefined) throw error;
    return page;
  }
}

/**
 * Limits on the responses of MCP servers. An agent gets 30 kB of an answer; lists of tools and images, which are dropped,
 * may be larger. The client stops earlier than `maxMs`, which is for servers so fast that timers do not fire.
 */
const mcpAnswers: AnswerLimits = {
  maxBytes: 4_000_000,
  maxMs: 125_000,
  maxValues: 100_000,
  events: { maxBytes: 8_000_000, maxEvents: 10_000, maxEventBytes: 4_000_000 },
};

/** Returns a `fetch` for MCP servers; see `pinnedFetch`. */
export function fetchFromMcp(addressOf: AddressOf): typeof fetch {
  return boundedFetch(mcpAnswers, pinnedFetch(addressOf));
}

/** Limits on attachments of issues, which GitHub may redirect to its storage. */
const attachments: AnswerLimits = { maxBytes: 5_000_000, maxMs: 15_000 };

/** Returns a `fetch` for attachments of issues; see `pinnedFetch`. */
export function fetchAttachment(addressOf: AddressOf): typeof fetch {
  return boundedFetch(attachments, pinnedFetch(addressOf));
}

/**
 * Limits on logs of checks, which GitHub redirects to its storage. A log usually says at its end why the check failed.
 */
const logs: AnswerLimits = { maxBytes: 100_000_000, keepsEnd: 400_000, maxMs: 30_000 };

/** Returns a `fetch` for the end of a log; see `pinnedFetch`. */
export function fetchLog(addressOf: AddressOf): typeof fetch {
  return boundedFetch(logs, pinnedFetch(addressOf));
}

const redirects = [301, 302, 303, 307, 308];

/** A repository as an address of GitHub's API names it. */
interface Place {
  /** The address below which the API is. */
  api: string;
  /** `/repos/owner/name` or `/repositories/number`, in lower case. */
  repository: string;
}

function placeOf({ origin, pathname }: URL): Place | undefined {
  const [, api, repository] = /^(.*?)(\/repos\/[^/]+\/[^/]+|\/repositories\/\d+)(?=\/|$)/.exec(pathname) ?? [];
  return repository === undefined ? undefined : { api: `${origin}${api}`, repository: repository.toLowerCase() };
}

/** Returns the repository in which a request changes something; undefined for other requests. */
function placeOfChange(input: string | URL | Request, { method = 'GET', redirect }: RequestInit): Place | undefined {
  const mayBe = !/^(get|head)$/i.test(method) && redirect !== 'manual' && !(input instanceof Request);
  return mayBe ? placeOf(new URL(input)) : undefined;
}

/** Returns the target of a redirect; undefined for other responses. */
function targetOf({ status, headers }: Response, from: URL): URL | undefined {
  const location = headers.get('location');
  if (!redirects.includes(status) || location === null) return undefined;
  if (!URL.canParse(location, from.href)) throw new AnswerRefused('redirects to an invalid address');
  return new URL(location, from.href);
}

/**
 * Returns a `fetch` for GitHub that makes a change only in the repository that it was asked for. GitHub redirects the address
 * of a transferred issue to that in its new repository, where nobody asked for the change. Such a redirect counts as 410: what
 * is at the address is gone from there. A renamed repository keeps its number, so a redirect to that number is followed. `send`
 * must obey `redirect: 'manual'`.
 * @throws AnswerRefused for a redirect within the repository that may turn the change into something else
 */
function changesInPlace(send: typeof fetch): typeof fetch {
  return async (input, init = {}) => {
    const place = placeOfChange(input, init);
    if (place === undefined || input instanceof Request) return send(input, init);
    const answer = await send(input, { ...init, redirect: 'manual' });
    const next = targetOf(answer, new URL(input));
    if (next === undefined) return answer;
    const refusal = await refusalOf(send, place, next, init);
    if (refusal !== undefined) return refusal;
    const moved = answer.status < 307 ? answer : await send(next, { ...init, redirect: 'manual' });
    if (targetOf(moved, next) !== undefined) throw new AnswerRefused('redirects too often or in an unsupported way');
    return moved;
  };
}

/** Returns what stands for a redirect that leaves the repository, or of which that is unknown; undefined for others. */
async function refusalOf(send: typeof fetch, { api, repository }: Place, next: URL, init: RequestInit) {
  const there = placeOf(next);
  if (there?.api !== api) return elsewhere();
  if (there.repository === repository) return undefined;
  const number = await numberOf(send, `${api}${repository}`, init);
  if (number instanceof Response) return number;
  return there.repository === `/repositories/${number}` ? undefined : elsewhere();
}

/** Asks for the number of a repository. Returns the response if GitHub does not say it. */
async function numberOf(send: typeof fetch, url: string, { headers, signal }: RequestInit): Promise<string | Response> {
  const { 'content-type': _, ...asked } = Object.fromEntries(new Headers(headers));
  const answer = await send(url, { headers: asked, signal: signal ?? null });
  if (!answer.ok) return answer;
  const { id } = (await answer.json()) as { id?: unknown };
  return String(id);
}

function elsewhere(): Response {
  const message =
    'GitHub redirects this change to another repository, for example because the issue was transferred. It was not made';
  return Response.json({ message }, { status: 410 });
}
