import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { makeSampleRepository, type SampleParts } from '../sample-repository.ts';
import type { Allowance } from './allowance.ts';
import { answeredStatus, basePathOf, end, forGit, jsonAnswer, queryOf, textOf, tooLong } from './answers.ts';
import { asGitHub } from './as-github.ts';
import { fullEventOf, type Move, retargeted } from './events.ts';
import {
  answerExtra,
  type Edits,
  endingSoon,
  type Faults,
  happens,
  keptCompleted,
  noteEdit,
  type Reaction,
  refusedReply,
  replyAsComment,
} from './front-extras.ts';
import { FrontLinks } from './front-links.ts';
import { FrontMerges } from './front-merges.ts';
import { closeIssuesOf, FrontPulls, type PullLike } from './front-pulls.ts';
import { ReviewLines } from './front-reviews.ts';
import { gitHostOf, type Push } from './git/git-host.ts';
import { type Call, feedPush } from './git/git-objects.ts';
import { serveGit } from './git/git-server.ts';
import { serveLfs } from './git/lfs-server.ts';
import { RareStates } from './rare-states.ts';
import { WebhookSender } from './webhook-sender.ts';

interface Seeded extends SampleParts {
  /** The address of this GitHub. */
  url: string;
  name: string;
  /** Further repositories of the account. */
  more: string[];
  webhookSecret: string;
  installationId: number;
  /** A token with all permissions on the repository. */
  ownerToken: string;
  allowance: Allowance;
}

/**
 * A proxy in front of the emulator that adds what the emulator lacks: git over HTTP, `GET /installation/repositories`,
 * reactions, closing issues by a merge, and a unique id for each webhook delivery.
 */
export class Front {
  readonly pushes: Push[] = [];
  readonly reactions: Reaction[] = [];
  readonly resolved = new Map<number, string>();
  readonly jobLogs = new Map<number, string>();
  readonly edits: Edits = new Map();
  readonly rare = new RareStates();
  private readonly lines = new ReviewLines();
  /** Replaced by tests to make calls fail. */
  faults: Faults = () => undefined;
  /** The validity of new tokens in seconds, if a test overrides the emulator's. */
  tokenSeconds: number | undefined;
  readonly hooks: WebhookSender;
  readonly merges: FrontMerges;
  readonly links: FrontLinks;
  private readonly inner: string;
  private readonly root: string;
  private readonly seeded: Seeded;
  readonly names: string[];
  private readonly git: ReturnType<typeof gitHostOf>;
  private readonly folders: Map<string, string>;
  private readonly pulls: Map<string, FrontPulls>;
  private readonly arePulls: Record<string, Promise<boolean>> = {};
  private before: Promise<unknown> = Promise.resolve();

  constructor(inner: string, root: string, seeded: Seeded) {
    this.inner = inner;
    this.root = root;
    this.seeded = seeded;
    this.hooks = new WebhookSender(seeded.webhookSecret);
    this.names = [seeded.name, ...seeded.more];
    this.folders = new Map(this.names.map((name) => [name, join(root, `${name.replace('/', '__')}.git`)]));
    this.pulls = new Map(this.names.map((name) => [name, new FrontPulls(this.folderOf(name), name, this.rare)]));
    this.git = gitHostOf({
      names: this.names,
      pushes: this.pushes,
      ownerToken: seeded.ownerToken,
      folderOf: this.folderOf.bind(this),
      call: this.call.bind(this),
      caller: this.caller.bind(this),
      alone: this.alone.bind(this),
      sendAbout: this.sendAbout.bind(this),
    });
    this.links = new FrontLinks({
      names: () => this.names,
      call: this.call.bind(this),
      owner: `token ${seeded.ownerToken}`,
      tell: (name, event, payload) => this.sendAbout(name, event, payload),
    });
    this.merges = new FrontMerges({
      rare: this.rare,
      names: () => this.names,
      pullsOf: (name) => this.pullsOf(name),
      owner: this.caller(seeded.ownerToken),
      tell: (name, event, payload) => this.sendAbout(name, event, payload),
      moving: (name, work) => this.git.moving(name, work),
    });
  }

  /** Sets whether `mergeable` is null when a pull request is read for the first time after a push, as on GitHub. */
  decideLate(isLate: boolean): void {
    for (const pulls of this.pulls.values()) pulls.decidesLate = isLate;
  }

  folderOf(name: string): string {
    return this.folders.get(name) ?? join(this.root, 'missing');
  }

  caller(token: string): Call {
    return async (method, path, body) => {
      const json = body === undefined ? undefined : JSON.stringify(body);
      const { status, text } = await this.ask(method, path, `token ${token}`, json);
      if (status > 299) throw new Error(`GitHub answered ${status} to ${method} ${path}: ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    };
  }

  async seedRepository(name: string): Promise<void> {
    await makeSampleRepository(this.folderOf(name), this.root, this.seeded);
    await this.showBranches(name);
  }

  showBranches(name: string): Promise<void> {
    return this.alone(() => feedPush(this.folderOf(name), name, this.caller(this.seeded.ownerToken)));
  }

  async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { authorization = '', host = '' } = req.headers;
    // GitHub Enterprise Server has its API below these paths.
    const asked = (req.url ?? '/').replace(/^\/api\/v3(?=\/)/, '').replace(/^\/api\/graphql$/, '/graphql');
    const path = await this.current(asked);
    const basic = /^Basic (.+)$/.exec(authorization)?.[1];
    const [token] = /ghs_[\w-]+/.exec(basic ? Buffer.from(basic, 'base64').toString('utf8') : authorization) ?? [];
    const method = basic ? 'GIT' : (req.method ?? 'GET');
    const query = await queryOf(asked, req);
    if (token !== undefined && happens(this.faults(method, asked, token, query), res)) return;
    if (await this.isRare(req, res, { method, path, token })) return;
    if ((await serveGit(this.git, req, res)) || (await serveLfs(this.git, req, res))) return;
    const body = await textOf(req, query);
    if (path === '/_emulator/webhook') {
      const marked = await this.withPullMark(body);
      // Not before, so that an event is recorded once the emulator has reported it.
      res.writeHead(202).end();
      return this.tell(String(req.headers['x-github-event']), marked);
    }
    const { hooks, reactions, resolved, jobLogs, names, edits, merges, links, rare, git } = this;
    const signedIn = (name: string) => this.pullsOf(name).signed;
    const folderOf = this.folderOf.bind(this);
    const [call, ask, send] = [this.call.bind(this), this.ask.bind(this), this.send.bind(this)];
    const bound = { call, ask, send, signedIn, folderOf };
    const around = { hooks, reactions, resolved, jobLogs, names, edits, merges, links, rare, git, ...bound };
    const extra = await answerExtra(around, { method, path, authorization, body, host });
    if (extra) return end(res, { ...extra, text: extra.text ?? JSON.stringify(this.shown(path, extra.json)) });
    const type = req.headers['content-type'];
    const { status, headers, text } = await this.ask(method, path, authorization, body || undefined, type);
    res.writeHead(status, headers).end(status === 204 ? undefined : text);
  }

  /** Returns the path with a repository's name instead of its id. GitHub redirects the names of renamed ones to their ids. */
  private async current(path: string): Promise<string> {
    const [, id, rest = ''] = /^\/repositories\/(\d+)(.*)$/.exec(path) ?? [];
    if (id === undefined) return path;
    for (const name of this.names) {
      const found = await this.call('GET', `/repos/${name}`, `token ${this.seeded.ownerToken}`);
      if (((await found.json()) as { id: number }).id === Number(id)) return `/repos/${name}${rest}`;
    }
    return path;
  }

  private async ask(method: string, path: string, authorization: string, body?: string, type?: string) {
    const links = await this.links.answer({ method, path, authorization, body });
    if (links !== undefined) return jsonAnswer(links.status, this.shown(path, links.json));
    return this.askEmulator(method, path, authorization, body, type);
  }

  /** Calls the emulator's API and corrects responses that differ from GitHub's. */
  private async askEmulator(method: string, path: string, authorization: string, body?: string, type?: string) {
    if (method === 'PUT' && /\/pulls\/\d+\/merge$/.test(path))
      return this.alone(() => this.merge(path, authorization, body));
    if (method === 'POST' && path.endsWith('/merges')) return this.mergeBranches(path, authorization, body);
    if (method === 'PUT' && path.endsWith('/update-branch')) return this.merges.update(path, body);
    noteEdit(this.edits, { method, path, authorization, body });
    const read = (of: string) => this.call('GET', of, authorization).then((answer) => answer.json());
    const review = await this.lines.asked({ method, path, authorization, body }, this.pullsOf(path), read);
    const refusal =
      tooLong(method, path, body) ??
      (await refusedReply(path, read)) ??
      review.refusal ??
      (method === 'POST' ? await this.pullsOf(path).refusedPull(path, body) : undefined);
    if (refusal !== undefined) return jsonAnswer(422, refusal);
    const [target, sent] = replyAsComment(path, await keptCompleted(method, path, review.body, read));
    const move = await retargeted({ method, path, body }, read);
    const response = await this.call(method, target, authorization, sent, type);
    const headers: Record<string, string> = {};
    for (const name of ['content-type', 'link', 'location', 'retry-after']) {
      const value = response.headers.get(name);
      if (value !== null) headers[name] = value;
    }
    const said = endingSoon(path, await response.text(), this.tokenSeconds);
    if (response.ok) await this.tellOfChange(path, { method, body, said, move });
    return {
      status: answeredStatus(path, response),
      headers,
      text: response.ok ? this.shownText(path, await this.withPulls(path, said)) : said,
    };
  }

  /** Answers a request that GitHub does not fulfil in its present state; returns whether it did. */
  private async isRare(
    req: IncomingMessage,
    res: ServerResponse,
    asked: { method: string; path: string; token: string | undefined },
  ): Promise<boolean> {
    const about = { url: this.seeded.url, api: basePathOf(req), isPull: this.isPull.bind(this) };
    const rare = await this.rare.answer({ ...asked, ...about });
    if (rare !== undefined)
      end(res, asked.method === 'GIT' ? forGit(rare) : { ...rare, text: JSON.stringify(rare.json) });
    return rare !== undefined;
  }

  private shown(path: string, json: unknown): unknown {
    return asGitHub(path, this.links.shown(path, this.rare.shown(path, json)));
  }

  /** Returns the text of an answer as GitHub would send it. */
  private shownText(path: string, text: string): string {
    return /^[[{]/.test(text) ? JSON.stringify(this.shown(path, JSON.parse(text))) : text;
  }

  /** Sends an event of the emulator. */
  private async tell(told: string, body: string): Promise<void> {
    const { event, payload } = await fullEventOf(told, body, this.folderOf.bind(this));
    return this.hooks.send(event, JSON.stringify(this.rare.shown('', payload)));
  }

  /** Marks an event's issue as a pull request if it is one, which the emulator does not do. */
  private async withPullMark(body: string): Promise<string> {
    const payload = JSON.parse(body) as { issue?: { number: number }; repository?: { full_name: string } };
    const name = payload.repository?.full_name ?? this.seeded.name;
    if (payload.issue === undefined) return body;
    return JSON.stringify({
      ...payload,
      issue: this.pullsOf(name).marked(payload.issue, await this.isPull(name, payload.issue.number)),
    });
  }

  private pullsOf(path: string): FrontPulls {
    const name = path
      .split('/')
      .filter((part) => part !== '' && part !== 'repos')
      .slice(0, 2)
      .join('/');
    return this.pulls.get(name) ?? (this.pulls.get(this.seeded.name) as FrontPulls);
  }

  private async isPull(name: string, number: number): Promise<boolean> {
    const path = `/repos/${name}/pulls/${number}`;
    // An issue never becomes a pull request, so the emulator is asked once.
    this.arePulls[path] ??= this.call('GET', path, `token ${this.seeded.ownerToken}`).then(({ ok }) => ok);
    return this.arePulls[path];
  }

  private async withPulls(path: string, text: string): Promise<string> {
    const issue = /^\/repos\/([^/]+\/[^/]+)\/issues\/(\d+)$/.exec(path);
    if (issue !== null && text.startsWith('{'))
      return JSON.stringify(
        this.pullsOf(path).marked(JSON.parse(text), await this.isPull(issue[1] ?? '', Number(issue[2]))),
      );
    if (/\/pulls\/\d+\/comments(\?|$)/.test(path)) return this.lines.shown(text);
    if (!/^\/repos\/[^/]+\/[^/]+\/pulls(\/\d+)?(\?|$)/.test(path)) return text;
    const found = JSON.parse(text) as PullLike | PullLike[];
    const [, , owner, repo] = path.split('/');
    for (const pull of Array.isArray(found) ? found : [found])
      this.merges.show(`${owner}/${repo}`, await this.pullsOf(path).shown(pull));
    return JSON.stringify(found);
  }

  private async mergeBranches(path: string, authorization: string, body = '{}') {
    const headers = { 'content-type': 'application/json' };
    const name = path.split('/').slice(2, 4).join('/');
    const token = authorization.replace(/^(token|bearer) /i, '');
    const bot = await this.caller(this.seeded.ownerToken)<{ id: number; login: string }>(
      'GET',
      '/users/deckhand%5Bbot%5D',
    );
    const made = await this.git.merge(name, token, JSON.parse(body), bot);
    if ('status' in made) return { status: made.status, headers, text: JSON.stringify({ message: made.message }) };
    const commit = await this.call('GET', `/repos/${name}/commits/${made.sha}`, authorization);
    return { status: 201, headers, text: await commit.text() };
  }

  private async merge(path: string, authorization: string, body = '{}') {
    const headers = { 'content-type': 'application/json' };
    const pull = await this.call('GET', path.replace(/\/merge$/, ''), authorization);
    if (!pull.ok) return { status: pull.status, headers, text: await pull.text() };
    let answer = { status: 200, headers, text: '' };
    const { sha: _checked, ...rest } = JSON.parse(body) as Record<string, unknown>;
    const refusal = await this.pullsOf(path)
      .merge(
        (await pull.json()) as PullLike,
        JSON.parse(body) as { sha?: string },
        this.caller(this.seeded.ownerToken),
        async () => {
          const response = await this.call('PUT', path, authorization, JSON.stringify(rest));
          // GitHub answers with 405 what the emulator refuses with 422, such as a method that is not allowed.
          const status = response.status === 422 ? 405 : response.status;
          answer = { status, headers, text: await response.text() };
          if (!response.ok) throw new Error(answer.text);
        },
      )
      .catch((error) => {
        if (answer.status > 299) return undefined;
        throw error;
      });
    if (refusal) return { status: refusal.status, headers, text: JSON.stringify({ message: refusal.message }) };
    if (answer.status < 300) await closeIssuesOf(path, this.caller(authorization.replace(/^(token|bearer) /i, '')));
    return answer;
  }

  private async call(
    method: string,
    path: string,
    authorization: string,
    body?: string,
    type = 'application/json',
  ): Promise<Response> {
    return fetch(`${this.inner}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        Authorization: await this.seeded.allowance.spend(authorization),
        Accept: 'application/vnd.github+json',
        'Content-Type': type,
      },
      ...(body === undefined ? {} : { body }),
    });
  }

  /** Renames the repository; its former name redirects to its id. */
  async rename(to: string): Promise<void> {
    const { name } = this.seeded;
    const [owner = ''] = name.split('/');
    const now = `${owner}/${to}`;
    const call = this.caller(this.seeded.ownerToken);
    const { id } = await call<{ id: number }>('PATCH', `/repos/${name}`, { name: to });
    this.rare.renamed.set(name, { id, now });
    this.names.splice(this.names.indexOf(name), 1, now);
    this.folders.set(now, this.folderOf(name));
    this.pulls.set(now, new FrontPulls(this.folderOf(now), now, this.rare));
    this.seeded.name = now;
  }

  /** Moves an issue to another repository of the account. Returns its path there. */
  transfer(number: number, to: string): Promise<string> {
    const from = `/repos/${this.seeded.name}/issues/${number}`;
    return this.rare.transfer(from, to, this.caller(this.seeded.ownerToken));
  }

  /** Runs one synchronization of refs between git and the emulator at a time. */
  private alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.before.then(work, work);
    this.before = turn.catch(() => {});
    return turn;
  }

  /** Sends the events that the emulator does not send: of comments on lines that were created, and of another base branch. */
  private async tellOfChange(
    path: string,
    { method, body, said, move }: { method: string; body?: string | undefined; said: string; move?: Move | undefined },
  ): Promise<void> {
    const name = repositoryOf(path);
    if (move !== undefined) await this.sendAbout(name, 'pull_request', await move());
    if (method !== 'POST') return;
    for (const event of await this.lines.created(path, body, said, this.caller(this.seeded.ownerToken)))
      await this.sendAbout(name, 'pull_request_review_comment', event);
  }

  /** Sends an event about a repository, without those of its fields that each event has. */
  private async sendAbout(name: string, event: string, payload: object): Promise<void> {
    const repository = await this.caller(this.seeded.ownerToken)('GET', `/repos/${name}`);
    const { installationId: id } = this.seeded;
    await this.tell(event, JSON.stringify({ ...payload, repository, installation: { id } }));
  }

  async send(event: string, { sender, ...rest }: { sender: string; [field: string]: unknown }): Promise<void> {
    const person = await this.caller(this.seeded.ownerToken)('GET', `/users/${sender}`);
    await this.sendAbout(this.seeded.name, event, { ...rest, sender: person });
  }
}

const repositoryOf = (path: string) => path.split('/').slice(2, 4).join('/');
