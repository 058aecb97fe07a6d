import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Call } from '../github/git/git-objects.ts';
import { gitIn } from '../github/git/git-objects.ts';
import { commentBox, personField, type Said, ticked, timeOf, writeForm } from './comments.ts';
import { diffTables, type Place } from './diff.ts';
import { type Html, html, pageOf, script } from './html.ts';

/** What the pages need of the emulator. */
interface FaceOf {
  /** Returns the repositories by name. */
  names(): string[];
  /** The people whom a visitor can play. */
  people: string[];
  as(login: string): Call;
  folderOf(name: string): string;
  /** Returns the reactions to what has an address in the API. */
  reactionsTo(subject: string): string[];
}

interface Issue extends Said {
  number: number;
  title: string;
  state: string;
  labels: { name: string }[];
}

/** What lists say of pull requests. */
interface ListedPull extends Issue {
  merged_at: string | null;
}

interface Pull extends Issue {
  merged: boolean;
  draft?: boolean;
  head: { ref: string; sha: string };
  base: { ref: string; sha: string };
}

interface LineComment extends Said {
  path: string;
  line: number | null;
}

const paths = /^\/([^/?]+\/[^/?]+)(?:\/(issues|pull|pulls)(?:\/(\d+)(?:\/(\w+))?)?)?\/?$/;
const maxBody = 200_000;
/** Only the path of a request counts. */
const origin = 'http://demo';
const nowhere = new URL(origin);

/**
 * Returns a function that answers requests of browsers for repositories, issues and pull requests, as GitHub's website does.
 * It returns whether it did. A visitor plays one of the demo's people.
 */
export function openFace(of: FaceOf): (req: IncomingMessage, res: ServerResponse) => Promise<boolean> {
  return async (req, res) => {
    const { pathname, searchParams } = URL.canParse(req.url ?? '', origin) ? new URL(req.url ?? '', origin) : nowhere;
    if (pathname === '/_face.js') {
      res.writeHead(200, { 'Content-Type': 'text/javascript' }).end(script);
      return true;
    }
    const [, name = '', kind = '', number = '', part = ''] = paths.exec(pathname) ?? [];
    if (!of.names().includes(name) || !isOfBrowser(req)) return false;
    const face = new Face(of, name);
    await (req.method === 'POST'
      ? takeForm(face, { kind, number, part }, req, res)
      : showPage(face, number, searchParams, res));
    return true;
  };
}

/** What an address names, such as `pull`, `2`, `reviews`; '' for what it leaves out. */
interface Address {
  kind: string;
  number: string;
  part: string;
}

async function takeForm(face: Face, at: Address, req: IncomingMessage, res: ServerResponse) {
  try {
    const to = await face.write(at, new URLSearchParams(await textOf(req)));
    res.writeHead(303, { Location: to }).end();
  } catch (error) {
    send(res, 422, pageOf('Refused', face.name, html`<h1>That did not work</h1><p>${(error as Error).message}</p>`));
  }
}

async function showPage(face: Face, number: string, query: URLSearchParams, res: ServerResponse) {
  const page = await face.page(number, query).catch(() => undefined);
  send(res, page === undefined ? 404 : 200, page ?? pageOf('Not found', face.name, html`<h1>Not found</h1>`));
}

/** Forms of other sites are refused: the pages act for the demo's people. */
function isOfBrowser({ method, headers }: IncomingMessage): boolean {
  if (method === 'GET') return headers.accept?.includes('text/html') ?? false;
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') ?? false;
  return method === 'POST' && isForm && (headers['sec-fetch-site'] ?? 'same-origin') === 'same-origin';
}

function send(res: ServerResponse, status: number, text: string): void {
  const policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; form-action 'self'";
  res.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy }).end(text);
}

async function textOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req) {
    text += chunk;
    if (text.length > maxBody) throw new Error(`A form may have at most ${maxBody} characters.`);
  }
  return text;
}

/** The pages of one repository. */
class Face {
  private readonly of: FaceOf;
  readonly name: string;
  private readonly read: Call;

  constructor(of: FaceOf, name: string) {
    this.of = of;
    this.name = name;
    this.read = of.as(of.people[0] ?? '');
  }

  private get<T>(path: string): Promise<T> {
    return this.read<T>('GET', `/repos/${this.name}${path}`);
  }

  /** @throws Error for what does not exist */
  async page(number: string, query: URLSearchParams): Promise<string> {
    if (number === '') return this.listPage();
    // GitHub's website shows a number as what it is, whatever the address says.
    const pull = await this.get<Pull>(`/pulls/${number}`).catch(() => undefined);
    return pull === undefined ? this.issuePage(await this.get<Issue>(`/issues/${number}`)) : this.pullPage(pull, query);
  }

  private async listPage(): Promise<string> {
    const [issues, pulls] = await Promise.all([
      this.get<Issue[]>('/issues?state=all&per_page=100'),
      this.get<ListedPull[]>('/pulls?state=all&per_page=100'),
    ]);
    const numbers = new Set(pulls.map((pull) => pull.number));
    const merged = new Set(pulls.filter((pull) => pull.merged_at !== null).map((pull) => pull.number));
    const item = (each: Issue) =>
      html`<li><a href="/${this.name}/${numbers.has(each.number) ? 'pull' : 'issues'}/${each.number}">${each.title}</a> ${labelsOf(each)}<br><span class="muted">#${each.number} ${merged.has(each.number) ? 'merged' : each.state} · ${each.user.login}</span></li>`;
    const part = (title: string, items: Issue[]) =>
      html`<h2>${title}</h2><ul class="plain">${items.map(item)}</ul>${items.length === 0 && html`<p class="muted">None yet.</p>`}`;
    const form = writeForm({
      action: `/${this.name}/issues`,
      people: this.of.people,
      label: 'Description',
      before: html`<p><label>Title <input type="text" name="title" required maxlength="200"></label></p>`,
      buttons: html`<button class="main">Create issue</button>`,
    });
    const onlyIssues = issues.filter((each) => !numbers.has(each.number));
    const lists = html`${part('Issues', onlyIssues)}${part('Pull requests', pulls)}`;
    const content = html`<h1>${this.name}</h1><p><a href="#new">New issue</a></p><div id="lists" data-live>${lists}</div><h2 id="new">New issue</h2>${form}`;
    return pageOf('Issues', this.name, content);
  }

  /** Shows a comment of an issue or a pull request. */
  private comment(comment: Said): Promise<Html> {
    const subject = `/repos/${this.name}/issues/comments/${comment.id}`;
    const reactions = [...new Set(this.of.reactionsTo(subject))];
    return commentBox(comment, 'commented', { reactions, id: String(comment.id) });
  }

  private async issuePage(issue: Issue): Promise<string> {
    const comments = await this.get<Said[]>(`/issues/${issue.number}/comments?per_page=100`);
    const thread = await Promise.all(comments.map((comment) => this.comment(comment)));
    const content = html`<div id="head" data-live><h1>${issue.title} <span class="muted">#${issue.number}</span></h1>
<p><span class="state ${issue.state}">${issue.state === 'open' ? 'Open' : 'Closed'}</span> ${labelsOf(issue)}</p></div>
${await commentBox(issue, 'opened this issue')}<div id="thread" data-live>${thread}</div>${this.commentForm(issue.number)}`;
    return pageOf(issue.title, this.name, content);
  }

  private commentForm(number: number): Html {
    return writeForm({
      action: `/${this.name}/issues/${number}/comments`,
      people: this.of.people,
      label: 'Add a comment',
      placeholder: '/agent start',
      before: html`<p class="muted">Commands for the agent begin with <code>/agent</code>: <code>/agent start</code>, <code>/agent status</code>, <code>/agent help</code>.</p>`,
      buttons: html`<button class="main">Comment</button>`,
    });
  }

  private async pullPage(pull: Pull, query: URLSearchParams): Promise<string> {
    const number = String(pull.number);
    const at = `/pulls/${number}`;
    const [comments, reviews, lines, checks, diff] = await Promise.all([
      this.get<Said[]>(`/issues/${number}/comments?per_page=100`),
      this.get<(Said & { state: string })[]>(`${at}/reviews?per_page=100`),
      this.get<LineComment[]>(`${at}/comments?per_page=100`),
      this.get<{ check_runs: Check[] }>(`/commits/${pull.head.sha}/check-runs`),
      this.diffOf(pull),
    ]);
    const said = [
      ...comments.map((comment) => ({ at: timeOf(comment), show: this.comment(comment) })),
      ...reviews
        .filter(({ body, state }) => body !== '' || state !== 'COMMENTED')
        .map((review) => ({ at: timeOf(review), show: commentBox(review, reviewWords[review.state] ?? 'reviewed') })),
    ].sort((a, b) => a.at.localeCompare(b.at));
    const talks = new Map<string, Html[]>();
    for (const each of lines) {
      const key = `${each.path}:${each.line}`;
      talks.set(key, [...(talks.get(key) ?? []), await commentBox(each)]);
    }
    const asked: Place = { path: query.get('path') ?? '', line: Number(query.get('line')) };
    const below = ({ path, line }: Place) => [
      ...(talks.get(`${path}:${line}`) ?? []),
      ...(path === asked.path && line === asked.line ? [this.lineForm(number, asked)] : []),
    ];
    const content = html`<div id="head" data-live>${headOf(pull)}</div>${await commentBox(pull, 'opened this pull request')}
<div id="thread" data-live>${await Promise.all(said.map(({ show }) => show))}</div>
<div id="checks" data-live><h2>Checks</h2>${checksOf(checks.check_runs)}</div>
${pull.state === 'open' && this.mergeForm(number)}${this.commentForm(Number(number))}
<h2>Changes</h2><p class="muted">Choose the number of a line to comment on it.</p>${diffTables(diff, below)}
${pull.state === 'open' && this.reviewForm(number)}`;
    return pageOf(pull.title, this.name, content);
  }

  /** The emulator names another commit for a merge than git has. Git's has the number of the pull request in its title. */
  private async diffOf({ number, merged, head, base }: Pull): Promise<string> {
    const git = (...args: string[]) =>
      gitIn(this.of.folderOf(this.name), args).then(
        (out) => out.toString('utf8').trim(),
        () => '',
      );
    const asked = ['-1', '--format=%H', '--fixed-strings', `--grep=(#${number})`, `refs/heads/${base.ref}`];
    const merge = merged ? await git('log', ...asked) : '';
    const range = merge === '' ? [`${base.sha}...${head.sha}`] : [`${merge}^1`, merge];
    return git('diff', '--no-color', ...range, '--');
  }

  private mergeForm(number: string): Html {
    return html`<form method="post" action="/${this.name}/pull/${number}/merge" class="row">${personField(this.of.people)}<button class="main">Merge pull request</button></form>`;
  }

  private lineForm(number: string, { path, line }: Place): Html {
    return html`<div id="comment">${writeForm({
      action: `/${this.name}/pull/${number}/reviews`,
      people: this.of.people,
      label: `Comment on line ${line} of ${path}`,
      name: 'comment',
      before: html`<input type="hidden" name="path" value="${path}"><input type="hidden" name="line" value="${line}"><input type="hidden" name="event" value="REQUEST_CHANGES">`,
      buttons: html`<button class="main">Request this change</button>`,
    })}</div>`;
  }

  private reviewForm(number: string): Html {
    return html`<h2>Review</h2>${writeForm({
      action: `/${this.name}/pull/${number}/reviews`,
      people: this.of.people,
      label: 'What should change, or what is good?',
      buttons: html`<button name="event" value="REQUEST_CHANGES">Request changes</button><button name="event" value="APPROVE" class="main">Approve</button>`,
    })}`;
  }

  /** Does what a form asks for. Returns the page that shows it. @throws Error when GitHub refuses it */
  async write({ kind, number, part }: Address, form: URLSearchParams): Promise<string> {
    const field = (key: string) => form.get(key) ?? '';
    const login = field('as');
    if (!this.of.people.includes(login)) throw new Error('Choose one of the people of the demo.');
    const post = <T>(path: string, body: object, method = 'POST') =>
      this.of.as(login)<T>(method, `/repos/${this.name}${path}`, body);
    if (kind === 'issues' && number === '') {
      const made = await post<Issue>('/issues', { title: field('title'), body: field('body') });
      return `/${this.name}/issues/${made.number}`;
    }
    if (part === 'comments') await post(`/issues/${number}/comments`, { body: field('body') });
    else if (part === 'tick') {
      const { id, body } = await this.get<Said>(`/issues/comments/${Number(field('id'))}`);
      await post(`/issues/comments/${id}`, { body: ticked(body ?? '', Number(field('box'))) }, 'PATCH');
    } else if (part === 'merge') await post(`/pulls/${number}/merge`, { merge_method: 'squash' }, 'PUT');
    else if (part === 'reviews') await post(`/pulls/${number}/reviews`, reviewOf(field));
    else throw new Error('There is no such form.');
    return `/${this.name}/${kind}/${number}`;
  }
}

function reviewOf(field: (key: string) => string): object {
  const [path, line, comment] = [field('path'), Number(field('line')), field('comment')];
  const comments = path === '' ? [] : [{ path, line, side: 'RIGHT', body: comment }];
  return { event: field('event'), body: field('body') || comment, comments };
}

const reviewWords: Record<string, string> = {
  APPROVED: 'approved these changes',
  CHANGES_REQUESTED: 'requested changes',
  COMMENTED: 'reviewed',
  DISMISSED: 'reviewed (dismissed)',
};

const labelsOf = ({ labels }: Pick<Issue, 'labels'>) =>
  (labels ?? []).map(({ name }) => html`<span class="label">${name}</span>`);

function headOf(pull: Pull): Html {
  const open = pull.draft === true ? 'Draft' : 'Open';
  const state = pull.merged ? 'Merged' : pull.state === 'open' ? open : 'Closed';
  return html`<h1>${pull.title} <span class="muted">#${pull.number}</span></h1>
<p><span class="state ${pull.merged ? 'merged' : pull.state}">${state}</span> ${labelsOf(pull)} <span class="muted">${pull.head.ref} → ${pull.base.ref}</span></p>`;
}

interface Check {
  name: string;
  status: string;
  conclusion: string | null;
  output?: { title?: string | null } | null;
}

function checksOf(checks: Check[]): Html {
  if (checks.length === 0) return html`<p class="muted">No checks yet.</p>`;
  const word = ({ status, conclusion }: Check) =>
    (status === 'completed' ? (conclusion ?? '') : status).replaceAll('_', ' ');
  const colour = ({ conclusion }: Check) => ({ success: 'ok', failure: 'bad' })[conclusion ?? ''] ?? 'muted';
  return html`<ul class="plain">${checks.map((check) => html`<li><strong>${check.name}</strong> <span class="${colour(check)}">${word(check)}</span> <span class="muted">${check.output?.title}</span></li>`)}</ul>`;
}
