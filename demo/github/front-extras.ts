import type { ServerResponse } from 'node:http';
import type { Answer, Asked } from './answers.ts';
import { exactNumber } from './as-github.ts';
import { listOpenPulls, readHistory, readPulls } from './front-history.ts';
import type { FrontLinks } from './front-links.ts';
import { askReviewers, assign, readPermission } from './front-people.ts';
import { readReferences } from './front-pulls.ts';
import { listReactions, readResolved } from './front-threads.ts';
import { type AroundGitData, deleteRef, makeCommit, matchingRefs, moveRef, readCommit } from './git/git-data.ts';
import type { RareStates } from './rare-states.ts';
import type { WebhookSender } from './webhook-sender.ts';

export interface Reaction {
  subject: string;
  content: string;
  /** The authorization of who reacted. */
  by?: string;
}

/** How a call fails. It is refused with a status, or it is executed and its response is lost. */
export type Fault =
  | 'lost'
  | { status: number; headers?: Record<string, string>; message?: string }
  /** A page, as proxies and an overloaded GitHub send. */
  | { status: number; headers?: Record<string, string>; html: string };

/**
 * Called before every request of the App; returns the fault to inject, if any. The method of git's requests is `GIT`. Only
 * requests of GraphQL, which all have one path, come with their body.
 */
export type Faults = (method: string, path: string, token: string, body: string) => Fault | undefined;

/** Injects a fault. Returns true if that has answered the request. */
export function happens(fault: Fault | undefined, res: ServerResponse): boolean {
  if (fault === undefined) return false;
  if (fault === 'lost') {
    // Close the connection when the response is about to be written.
    res.writeHead = res.write = res.end = (() => res.destroy()) as never;
    return false;
  }
  const isPage = 'html' in fault;
  res.writeHead(fault.status, { 'content-type': isPage ? 'text/html' : 'application/json', ...fault.headers });
  res.end(isPage ? fault.html : JSON.stringify({ message: fault.message ?? 'made to fail' }));
  return true;
}

/** Returns the emulator's response. If it contains a token, sets the token's expiry to that many seconds from now. */
export function endingSoon(path: string, text: string, seconds: number | undefined): string {
  if (seconds === undefined || !/\/access_tokens$/.test(path)) return text;
  return JSON.stringify({ ...JSON.parse(text), expires_at: new Date(Date.now() + seconds * 1000).toISOString() });
}

/** When the body and the title of issues were edited, and with which token, by the path of the issue. */
export type Edits = Map<string, { body?: string; title?: string; bodyBy?: string; titleBy?: string }>;

interface Around extends AroundGitData {
  /** `owner/name` of each repository. */
  names: string[];
  hooks: WebhookSender;
  reactions: Reaction[];
  /** Who resolved a thread, by the number of its first comment. */
  resolved: Map<number, string>;
  /** Logs of GitHub Actions jobs, by their id. */
  jobLogs: Map<number, string>;
  edits: Edits;
  /** Answers GraphQL requests about merges; undefined for others. */
  merges: { answer(body: string): Promise<object | undefined> };
  links: FrontLinks;
  rare: RareStates;
  /** Sends an event about the first repository. */
  send(event: string, payload: { sender: string; [field: string]: unknown }): Promise<void>;
  call(method: string, path: string, authorization: string, body?: string): Promise<Response>;
  /** Reads what GitHub's REST API shows. */
  ask(method: string, path: string, authorization: string): Promise<{ status: number; text: string }>;
}

type Handler = (around: Around, asked: Asked) => Answer | Promise<Answer>;

/** The endpoints of GitHub's API that the emulator lacks or gets wrong, by method and path. */
const extras: [RegExp, Handler][] = [
  [/ \/installation\/repositories/, listInstalled],
  [/ \/graphql$/, answerGraphql],
  [/^POST .*\/reactions$/, addReaction],
  [/^GET .*\/pulls\/comments\/\d+\/reactions/, listReactions],
  [/^GET .*\/(issues|pulls)\/comments(\?|$)/, listComments],
  [/^POST \/markdown$/, (_around, asked) => rendered(asked)],
  [/ \/app\/hook\/deliveries/, hookDeliveries],
  [/\/actions\/jobs\/\d+\/logs$/, redirectToLog],
  [/ \/_storage\/logs\//, storedLog],
  [/^GET .*\/collaborators\/[^/]+\/permission$/, readPermission],
  [/^POST .*\/requested_reviewers$/, askReviewers],
  [/^POST .*\/assignees$/, assign],
  [/^GET .*\/issues\/\d+\/events(\?|$)/, ({ links }, asked) => links.listEvents(asked)],
  [/^POST .*\/git\/commits$/, makeCommit],
  [/^GET .*\/git\/commits\/\w+$/, readCommit],
  [/^(POST|PATCH) .*\/git\/refs(\/|$)/, moveRef],
  [/^DELETE .*\/git\/refs\/(?!heads|tags)/, deleteRef],
  [/^GET .*\/git\/matching-refs\/(?!heads|tags)/, matchingRefs],
  [/^POST .*\/check-(run|suite)s\/\d+\/rerequest$/, rerequest],
];

/** Handles the endpoints of GitHub's API that the emulator lacks; returns undefined for all others. */
export async function answerExtra(around: Around, asked: Asked): Promise<Answer | undefined> {
  const request = `${asked.method} ${asked.path}`;
  return extras.find(([pattern]) => pattern.test(request))?.[1](around, asked);
}

async function answerGraphql(around: Around, asked: Asked): Promise<Answer> {
  if (asked.body.includes('query editorsOfText')) return readTextEditors(around, asked);
  if (asked.body.includes('pullRequests(')) return listOpenPulls(around, asked);
  if (/\bp\d+: pullRequest\(/.test(asked.body)) return readPulls(around, asked);
  if (asked.body.includes('reviewThreads')) return readResolved(around, asked);
  if (/associatedPullRequests|issueOrPullRequest/.test(asked.body)) return readHistory(around, asked);
  const merging = await around.merges.answer(asked.body);
  if (merging !== undefined) return { status: 200, json: merging };
  if (asked.body.includes('on Comment')) return readEditors(around, asked);
  if (asked.body.includes('CROSS_REFERENCED_EVENT')) return readReferences(around, asked);
  return asked.body.includes('lastEditedAt') ? readEdits(around, asked) : setDraft(around, asked);
}

/** Asks for a check again. GitHub resets the suite, of which nobody here reads the status; a check run stays as it is. */
async function rerequest({ call, send }: Around, { path, authorization }: Asked): Promise<Answer> {
  const of = path.replace(/\/rerequest$/, '');
  const [found, person] = [await call('GET', of, authorization), await call('GET', '/user', authorization)];
  if (!found.ok) return { status: found.status, json: await found.json() };
  const { login } = (await person.json()) as { login: string };
  const event = of.includes('/check-runs/') ? 'check_run' : 'check_suite';
  const again = (await found.json()) as object;
  const shown = event === 'check_suite' ? { ...again, status: 'queued', conclusion: null } : again;
  await send(event, { sender: login, action: 'rerequested', [event]: shown });
  return { status: 201, json: {} };
}

async function listInstalled({ names, call }: Around, { authorization }: Asked): Promise<Answer> {
  const repositories = [];
  for (const name of names) {
    const response = await call('GET', `/repos/${name}`, authorization);
    if (response.ok) repositories.push(await response.json());
  }
  return { status: 200, json: { total_count: repositories.length, repositories } };
}

/** Lists the comments of all issues, or on lines of all pull requests. The emulator takes `comments` in these paths for a number. */
async function listComments({ call }: Around, { path, authorization }: Asked): Promise<Answer> {
  const { pathname, searchParams } = new URL(path, 'http://github');
  const kind = pathname.replace(/\/comments$/, '');
  const list = async (of: string) =>
    (await (await call('GET', of, authorization)).json()) as {
      number: number;
      created_at: string;
      updated_at: string;
    }[];
  const all = [];
  for (const { number } of await list(`${kind}?state=all&per_page=100`))
    all.push(...(await list(`${kind}/${number}/comments?per_page=100`)));
  const since = searchParams.get('since') ?? '';
  const found = all.filter((c) => c.updated_at >= since).sort((a, b) => a.created_at.localeCompare(b.created_at));
  return { status: 200, json: found };
}

/** Renders Markdown as far as the service needs it: an image. */
function rendered({ body }: Asked): Answer {
  const { text } = JSON.parse(body) as { text: string };
  const html = text
    .replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
    .replace(/!\[\]\((\S+?)\)/g, '<img src="$1" alt="">');
  return {
    status: 200,
    json: {},
    text: `<p dir="auto">${html}</p>`,
    headers: { 'content-type': 'text/html;charset=utf-8' },
  };
}

function addReaction({ reactions }: Around, { path, body, authorization: by }: Asked): Answer {
  const { content } = JSON.parse(body) as { content: string };
  const subject = path.replace(/\/reactions$/, '');
  const isNew = !reactions.some((r) => r.subject === subject && r.content === content && r.by === by);
  if (isNew) reactions.push({ subject, content, by });
  return { status: isNew ? 201 : 200, json: { id: reactions.length, content } };
}

/** Notes when somebody edits an issue or a comment. */
export function noteEdit(edits: Edits, { method, path, authorization: by, body = '{}' }: Edited): void {
  if (method !== 'PATCH' || !/\/(issues|pulls)\/(comments\/)?\d+$/.test(path)) return;
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  for (const key of ['body', 'title'] as const)
    if (key in JSON.parse(body)) edits.set(path, { ...edits.get(path), [key]: now, [`${key}By`]: by });
}

interface Edited {
  method: string;
  path: string;
  authorization: string;
  body?: string | undefined;
}

/** Handles a GraphQL query of the service: who edited comments and reviews last. Here, reviews cannot be edited. */
async function readEditors({ edits, call }: Around, { body }: Asked): Promise<Answer> {
  const { ids } = JSON.parse(body).variables as { ids: string[] };
  const nodes = [];
  for (const id of ids) {
    // The emulator encodes the kind and the number, such as `0:IssueComment7`.
    const [, kind, number] = /:(\D+)(\d+)$/.exec(Buffer.from(id, 'base64').toString()) ?? [];
    const end = `/${kind === 'IssueComment' ? 'issues' : 'pulls'}/comments/${number}`;
    const edit = kind === 'PullRequestReview' ? undefined : [...edits].find(([path]) => path.endsWith(end))?.[1];
    const { body: lastEditedAt = null, bodyBy: by = '' } = edit ?? {};
    const editor = lastEditedAt === null ? null : await editorWith(call, by);
    nodes.push({ id, lastEditedAt, editor, isMinimized: false });
  }
  return { status: 200, json: { data: { nodes } } };
}

/** Handles a GraphQL query of the service: who edited the text and the title of an issue or pull request last. */
async function readTextEditors({ edits, call }: Around, { body }: Asked): Promise<Answer> {
  const { owner, repo, number } = JSON.parse(body).variables;
  const found = ['issues', 'pulls'].map((kind) => edits.get(`/repos/${owner}/${repo}/${kind}/${number}`) ?? {});
  const { body: lastEditedAt = null, bodyBy, titleBy } = Object.assign({}, ...found);
  const nodes = titleBy === undefined ? [] : [{ actor: await editorWith(call, titleBy) }];
  const read = { lastEditedAt, editor: bodyBy ? await editorWith(call, bodyBy) : null, timelineItems: { nodes } };
  return { status: 200, json: { data: { repository: { issueOrPullRequest: read } } } };
}

/** Returns the person to whom a token belongs, or else the App, which has no `databaseId`. */
async function editorWith(call: Around['call'], authorization: string) {
  const answer = await call('GET', '/user', authorization);
  const { id, login } = (await answer.json()) as { id?: number; login?: string };
  return answer.ok && login !== undefined ? { login, databaseId: id } : { login: 'deckhand' };
}

/** Handles a GraphQL query of the service: what an issue says, and since when. */
async function readEdits({ edits, call }: Around, { authorization, body }: Asked): Promise<Answer> {
  const { owner, repo, number } = JSON.parse(body).variables;
  const path = `/repos/${owner}/${repo}/issues/${number}`;
  const response = await call('GET', path, authorization);
  if (!response.ok) return { status: 200, json: { errors: [{ message: 'not found' }] } };
  const issue = (await response.json()) as { title: string; body: string | null; html_url: string };
  const { body: lastEditedAt = null, title: renamedAt } = edits.get(path) ?? {};
  const nodes = renamedAt === undefined ? [] : [{ createdAt: renamedAt }];
  const read = {
    title: issue.title,
    body: issue.body ?? '',
    url: issue.html_url,
    lastEditedAt,
    timelineItems: { nodes },
  };
  return { status: 200, json: { data: { repository: { issue: read } } } };
}

/** Handles the only GraphQL mutations that the service uses: a pull request becomes ready for review, or a draft. */
async function setDraft({ names, call }: Around, { authorization, body }: Asked): Promise<Answer> {
  const { query, variables } = JSON.parse(body) as { query: string; variables: { id: string } };
  const { id } = variables;
  const draft = query.includes('convertPullRequestToDraft');
  for (const name of names) {
    const pulls = `/repos/${name}/pulls`;
    const open = (await (await call('GET', pulls, authorization)).json()) as { node_id: string; number: number }[];
    const pull = open.find((p) => p.node_id === id);
    if (pull === undefined) continue;
    const response = await call('PATCH', `${pulls}/${pull.number}`, authorization, JSON.stringify({ draft }));
    const act = draft ? 'convertPullRequestToDraft' : 'markPullRequestReadyForReview';
    if (response.ok) return { status: 200, json: { data: { [act]: { pullRequest: { isDraft: draft } } } } };
  }
  return { status: 200, json: { errors: [{ message: 'not found' }] } };
}

const logStorage = '/_storage/logs/';

/** Redirects to the storage of logs, which is another origin. The web page in the body is GitHub's own. */
function redirectToLog({ jobLogs }: Around, { host, path }: Asked): Answer {
  const id = Number(/(\d+)\/logs$/.exec(path)?.[1]);
  if (!jobLogs.has(id)) return { status: 404, json: { message: 'Not Found' } };
  const location = `http://${host.replace('127.0.0.1', 'localhost')}${logStorage}${id}?sig=x`;
  return { status: 302, json: {}, headers: { location, 'content-type': 'text/html;charset=utf-8' } };
}

/** Sends a log, as the storage does. It refuses signed addresses that come with another credential. */
function storedLog({ jobLogs }: Around, { path, authorization }: Asked): Answer {
  const text = jobLogs.get(Number(/(\d+)\?/.exec(path)?.[1]));
  if (authorization !== '' || text === undefined) return { status: 400, json: {}, text: 'AuthenticationFailed' };
  return { status: 200, json: {}, text, headers: { 'content-type': 'text/plain' } };
}

const deliveriesOfAPage = 100;
/** Ids of deliveries exceed 2^53 since 2026 (https://github.com/octokit/request.js/issues/797). */
const firstDelivery = 3804004623172230000n;

/** Lists the deliveries, newest first, and sends one again. */
async function hookDeliveries({ hooks }: Around, { method, host, path }: Asked): Promise<Answer> {
  const again = /^\/app\/hook\/deliveries\/(\d+)\/attempts$/.exec(path);
  if (again !== null && method === 'POST') {
    const delivery = hooks.deliveries[Number(BigInt(again[1] ?? 0) - firstDelivery)];
    if (delivery === undefined) return { status: 404, json: { message: 'Not Found' } };
    await hooks.repeat(delivery.guid, true);
    return { status: 202, json: {} };
  }
  const cursor = Number(new URL(path, 'http://github').searchParams.get('cursor') ?? hooks.deliveries.length);
  const first = Math.max(0, cursor - deliveriesOfAPage);
  const shown = hooks.deliveries.slice(first, cursor).map(({ guid, event, status }, i) => ({
    id: exactNumber(firstDelivery + BigInt(first + i)),
    guid,
    event,
    status_code: status,
    delivered_at: new Date().toISOString(),
    redelivery: false,
  }));
  const next = `<http://${host}/app/hook/deliveries?cursor=${first}>; rel="next"`;
  return { status: 200, json: shown.reverse(), ...(first > 0 ? { headers: { link: next } } : {}) };
}

/** Translates a reply to a review comment, for which the emulator has a different endpoint. */
export function replyAsComment(path: string, body: string | undefined): [string, string | undefined] {
  const reply = /^(\/repos\/[^/]+\/[^/]+\/pulls\/\d+\/comments)\/(\d+)\/replies$/.exec(path);
  if (reply === null || body === undefined) return [path, body];
  return [reply[1] ?? path, JSON.stringify({ ...JSON.parse(body), in_reply_to_id: Number(reply[2]) })];
}

const replies = /^(\/repos\/[^/]+\/[^/]+\/pulls)\/\d+(\/comments\/\d+)\/replies$/;

/** Returns why GitHub refuses a reply to a review comment: only the first comment of a thread takes replies. */
export async function refusedReply(path: string, read: (path: string) => Promise<unknown>) {
  const to = replies.exec(path);
  if (to === null) return undefined;
  const comment = (await read(`${to[1]}${to[2]}`)) as { in_reply_to_id?: number | null };
  if (!comment.in_reply_to_id) return undefined;
  return { message: 'Validation Failed', errors: ['Replies to replies are not supported'] };
}

/** Returns an update of a check run without what GitHub ignores: a completed one keeps its status and conclusion. */
export async function keptCompleted(
  method: string,
  path: string,
  body: string | undefined,
  read: (path: string) => Promise<unknown>,
): Promise<string | undefined> {
  if (method !== 'PATCH' || body === undefined || !/\/check-runs\/\d+$/.test(path)) return body;
  const { status } = (await read(path)) as { status: string };
  const { status: _status, conclusion: _conclusion, ...rest } = JSON.parse(body) as Record<string, unknown>;
  return status === 'completed' ? JSON.stringify(rest) : body;
}
