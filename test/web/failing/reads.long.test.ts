import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { chromiumPath } from '../../../demo/browser.ts';
import { until } from '../../../demo/real-service.ts';
import { complaints, inBrowser, loaded, openOwner, watchBrowser } from '../../support/browser.ts';
import { write } from '../../support/face.ts';
import { planner } from '../../support/stand-ins/planner.ts';
import { openWorld, type World } from '../../support/world.ts';

// Each read of each page fails: the page says what failed, offers to try again, enables no button that it does not enable
// otherwise, and shows everything after that. What people see in each case is in the table.

const source = new URL('../../../src/web/routes.tsx', import.meta.url);
const file = new URL('../../fixtures/failing-reads.txt', import.meta.url);
/** The page and the read, and how the page shows that it failed. */
const table = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.trim().split(/ {2,}/) as [page: string, read: string, shows: string]);

/** The addresses of the pages, as their routes declare them: those below a project have its address before them. */
function declaredPages(): string[] {
  const text = readFileSync(source, 'utf8');
  const [before = '', inProject = '', after = ''] = text.split(/path: 'projects\/:projectId',|path: 'tasks\/:taskId',/);
  const paths = (part: string) => [...part.matchAll(/path: '([^']+)'|index: true/g)].map(([, path = '']) => path);
  const own = [...paths(before), ...paths(`path: 'tasks/:taskId',${after}`)].filter((path) => path !== '/login');
  const all = [
    ...own.map((path) => path.replace(/^\//, '')),
    ...paths(inProject).map((path) => `projects/:projectId/${path}`),
  ];
  return [...new Set(all.map((path) => `/${path}`.replace(/\/$/, '') || '/'))];
}

test('the table has each page', () => {
  expect([...new Set(table.map(([name]) => name))].sort()).toEqual(declaredPages().sort());
});

const script = [[write('made.txt', 'x\n')], [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]];

let world: World;
let page: Page;
const ids: Record<string, string> = {};

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  world = await openWorld(
    (request, turn) => (request.tool_choice === undefined ? (script[Math.min(turn, 1)] as never) : planner(request)),
    { settings: { SANDBOX: 'off' } },
  );
  await world.issue('/agent start');
  const task = await world.taskIn('in_review');
  // So that Merge is not possible, whatever the page knows.
  world.github.rare.isBlocked = true;
  const post = <T>(path: string, body: object) => world.service.api<T>(world.token, 'POST', path, body);
  const base = `/projects/${world.project.id}`;
  const [run] = await world.get<{ id: string }[]>(`/tasks/${task.id}/runs`);
  const [agent] = await world.get<{ id: string }[]>(`/agents?projectId=${world.project.id}`);
  const [repository] = await world.get<{ id: string }[]>('/repositories');
  const dates = { startDate: '2026-01-01', endDate: '2026-01-14' };
  const sprint = await post<{ id: string }>(`${base}/sprints`, { name: 'First', ...dates });
  await post(`/sprints/${sprint.id}/tasks`, { taskId: task.id });
  const wizard = await post<{ sessionId: string }>(`${base}/wizard/initialize`, { goal: 'Greet' });
  Object.assign(ids, {
    ...{ projectId: world.project.id, taskId: task.id, runId: run?.id, agentId: agent?.id, sprintId: sprint.id },
    ...{ repositoryId: repository?.id, sessionId: wizard.sessionId },
  });
  page = await openOwner(world);
  await page.addInitScript(intercept);
});
watchBrowser(() => world?.close());

/**
 * In the browser: notes what is read, and makes one read fail, also within a batch. `__failing` is the status, 0 for a
 * connection that breaks, and the start of the address.
 */
const intercept = `(() => {
  const send = window.fetch;
  const failing = () => JSON.parse(sessionStorage.getItem('failing') ?? 'null');
  const reads = (window.__reads = new Set());
  const plain = (address) => address.split('?')[0].replace(/\\b[a-z]+_[0-9a-z]{26}\\b/g, ':id');
  const body = (address) => ({ statusCode: failing().status, message: 'made to fail: ' + plain(address) });
  const fails = (address) => failing()?.read === plain(address);
  window.fetch = async (input, init) => {
    const url = String(input);
    if (!url.startsWith('/api/v1/') || (init?.method ?? 'GET') !== 'GET') return send(input, init);
    const address = url.slice('/api/v1'.length);
    const inside = address.startsWith('/batch?') ? new URLSearchParams(address.slice('/batch?'.length)).getAll('get') : [address];
    for (const each of inside) reads.add(plain(each));
    const hit = inside.filter(fails);
    if (hit.length > 0 && failing().status === 0) throw new TypeError('Failed to fetch');
    const json = (status, value) => new Response(JSON.stringify(value), { status, headers: { 'Content-Type': 'application/json' } });
    if (hit.length > 0 && inside.length === 1 && !address.startsWith('/batch?')) return json(failing().status, body(address));
    const reply = await send(input, init);
    if (hit.length === 0 || !reply.ok) return reply;
    const all = await reply.json();
    return json(200, all.map((each, at) => (fails(inside[at]) ? { status: failing().status, body: body(inside[at]) } : each)));
  };
})()`;

const addressOf = (name: string) =>
  name.replace(/:(\w+)/g, (_all, key: string) => ids[key] ?? key).replace('*', 'no/such/page');

/** After so long, a page that still loads will never end. */
const endlessMs = 30_000;

interface Seen {
  isEndless: boolean;
  text: string;
  enabled: string[];
  reads: string[];
}

/** Opens a page while a read fails, and returns what people see once everything has been answered. */
async function open(name: string, failing?: Pick<Failing, 'read' | 'status'>): Promise<Seen> {
  await page.goto(`${world.service.url}/no/such/page`);
  await page.evaluate(`sessionStorage.setItem('failing', ${JSON.stringify(JSON.stringify(failing ?? null))})`);
  await page.goto(`${world.service.url}${addressOf(name)}`);
  return seen();
}

async function seen(): Promise<Seen> {
  // React Query tries twice more, after one and two seconds.
  const isLoaded = async () =>
    (await page.locator('main h1').count()) > 0 && (await page.getByRole('status', { name: 'Loading' }).count()) === 0;
  await page.locator('main').first().waitFor();
  await loaded(page);
  const isEndless = !(await until('what the page loads', isLoaded, endlessMs).then(
    () => true,
    () => false,
  ));
  await loaded(page);
  const buttons = `[...document.querySelectorAll('button, [role=button]')].filter((b) => !b.disabled && b.getAttribute('aria-disabled') !== 'true').map((b) => b.innerText || b.ariaLabel || '')`;
  return {
    isEndless,
    text: String(await page.evaluate('document.body.innerText')),
    enabled: (await page.evaluate(buttons)) as string[],
    reads: (await page.evaluate('[...window.__reads]')) as string[],
  };
}

const pages = [...new Set(table.map(([name]) => name))];

inBrowser(
  'the table has each read of each page',
  async () => {
    const found: string[] = [];
    const frame = new Set((await open('/*')).reads);
    for (const name of pages)
      for (const read of (await open(name)).reads) if (name === '/*' || !frame.has(read)) found.push(`${name} ${read}`);
    expect(found.sort()).toEqual(
      table
        .filter(([, read]) => read !== '-')
        .map(([name, read]) => `${name} ${read}`)
        .sort(),
    );
  },
  600_000,
);

const kinds: [string, number][] = [
  ['500', 500],
  ['403', 403],
  ['404', 404],
  ['a connection that breaks', 0],
];

/** Where no page of the project can be shown, the person reads why, and whom to ask. Nothing would come of trying again. */
const isNoMember = (read: string, status: number) => read === '/projects/:id' && status === 403;

/** What a page says of a failure: what the service replied, or that it cannot be reached. */
function says(read: string, status: number): string {
  if (isNoMember(read, status)) return 'You are not a member of this project';
  return status === 0 ? 'The service cannot be reached' : `made to fail: ${read}`;
}

interface Failing {
  read: string;
  status: number;
  /** What the table says. */
  shows: string;
}

/** Returns what is wrong with what a page says of a failure. */
function wrongWords({ text }: Seen, { read, status, shows }: Failing): string[] {
  const isSaid = text.includes(says(read, status));
  const [kind = ''] = shows.split(':');
  const isRefused = [403, 404].includes(status);
  const saying: Record<string, boolean> = { says: shows === 'says' || status !== 404, refused: isRefused };
  if (saying[kind] && !isSaid) return ['it does not say what failed'];
  // A connection that breaks takes the other reads of its batch with it.
  return kind === 'quiet' && isSaid && status !== 0 ? ['it says what failed, other than the table'] : [];
}

/** Presses every button that tries again, and returns what people see then. */
async function tryAgain(): Promise<Seen> {
  await page.evaluate(`sessionStorage.setItem('failing', 'null')`);
  const button = page.getByRole('button', { name: 'Try again' });
  for (let tries = 0; tries < 9 && (await button.count()) > 0; tries++) {
    await button.first().click();
    await loaded(page);
  }
  return seen();
}

/** Returns what is wrong with a page while a read fails, and afterwards. `wanted` is the page without a failure. */
async function problemsOf(name: string, wanted: Seen, failing: Failing): Promise<string[]> {
  const failed = await open(name, failing);
  const problems = wrongWords(failed, failing);
  if (failed.text.includes('Something went wrong on this page')) problems.push('the page crashed');
  if (failed.isEndless) problems.push('it loads forever');
  const message = says(failing.read, failing.status);
  const isSaid = failed.text.includes(message);
  const mayTryAgain = failed.enabled.includes('Try again') || isNoMember(failing.read, failing.status);
  if (isSaid && !mayTryAgain) problems.push('it does not offer to try again');
  // Whom the service does not know can leave.
  const usual = ['Try again', ...(failing.read === '/me' ? ['Sign out'] : []), ...wanted.enabled];
  const more = failed.enabled.filter((each) => !usual.includes(each));
  if (more.length > 0) problems.push(`it enables ${more.join(', ')}`);
  if (isSaid && failed.enabled.includes('Try again') && (await tryAgain()).text.includes(message))
    problems.push('it does not recover');
  return problems.map((problem) => `${failing.read}: ${problem}`);
}

const ofPage = pages.map((name) => [name, table.filter(([of, read]) => of === name && read !== '-')] as const);
for (const [kind, status] of kinds)
  for (const [name, reads] of ofPage)
    inBrowser(
      `${kind} on the page ${name}: it says so, and recovers`,
      async () => {
        const wanted = await open(name);
        const problems: string[] = [];
        for (const [, read, shows] of reads)
          problems.push(...(await problemsOf(name, wanted, { read, shows, status })));
        // Browsers note each failed request.
        complaints.length = 0;
        expect(problems).toEqual([]);
      },
      600_000,
    );
