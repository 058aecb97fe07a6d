import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import type { ModelRequest, Said } from '../../../src/demo/model/model.ts';
import { until } from '../../../src/demo/real-service.ts';
import { handsOf } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';
import { commandsIn } from '../../support/machine/processes.ts';
import { isThorough } from '../../support/thorough.ts';
import { openWorld, type World, type WorldTask } from '../../support/world.ts';

/** The points that occur in every run. */
const ofEveryRun = /^(GIT|model|commit of (run_steps|run_turns|handoffs))/;
/**
 * Every external call of a run and every commit is a point. A thorough run tests all of them, any other a few.
 * `KILL_POINTS` selects the points whose name contains it, such as `lost commit`.
 */
const asked = process.env.KILL_POINTS;
const samples = 2;
const tellsTimes = isThorough || asked !== undefined;

let world: World;
/** The service's calls to GitHub, git and the model, and its commits, in order. A fault is injected at one of them. */
let calls: string[] = [];
/** The point at which the fault is injected: the nth call of a name, because concurrent calls have no fixed order. */
let target: { name: string; nth: number } | undefined;
let how: 'before' | 'after' | 'lost' = 'before';
let isKilled = false;
let isHit = false;
/** How often the model still refuses the second turn of the current run, which parks the run. */
let refusals = 0;
/** The processes that were killed. None of their children may be left. */
const killed: number[] = [];
const theirs = new Set<string>();

/** Returns the fault of a call: none, refused after the kill, or executed with its response lost. */
function due(name: string) {
  calls.push(name);
  if (target?.name !== name || calls.filter((c) => c === name).length !== target.nth + 1) return undefined;
  isHit = true;
  if (how !== 'lost') {
    isKilled = true;
    const { pid = 0 } = world.service.process;
    killed.push(pid);
    for (const folder of foldersOf([pid])) theirs.add(folder);
    world.service.process.kill('SIGKILL');
  }
  return how === 'before' ? { status: 502 } : ('lost' as const);
}

/** The tables of a task and its run. The order of commits to other tables depends on the clock. */
const ofRuns = /\b(?:into|update|from)\s+"?(tasks|task_\w+|runs|run_\w+|handoffs|proofs|pull_requests|agents)\b/i;

function nameOf(statements: string[]): string | undefined {
  const tables = statements.flatMap((text) => ofRuns.exec(text)?.[1] ?? []);
  return tables.length === 0 ? undefined : `commit of ${[...new Set(tables)].join(', ')}`;
}

async function open() {
  const write = (path: string, content: string) => ({ name: 'write_file', arguments: { path, content } });
  const test = `import { readFileSync } from 'node:fs';\nimport { test } from 'node:test';\ntest('made', () => readFileSync('made.txt'));\n`;
  const command = { name: 'run_command', arguments: { command: 'cat made.txt' } };
  const ask = { name: 'ask_person', arguments: { question: 'Which one?', options: ['this', 'that'] } };
  const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
  const script: Said[] = [[write('made.txt', 'x\n'), write('test/made.test.js', test)], [command, ask], [finish]];
  const busy: Said = { status: 429, headers: { 'retry-after': '0.01' } };
  // The answers are streamed whenever the service asks for it. A run is parked once, after the client's own retries.
  const answer = (_request: ModelRequest, turn: number) =>
    turn === 1 && refusals-- > 0 ? busy : (script[Math.min(turn, script.length - 1)] ?? 'Done.');
  world = await openWorld(answer, {
    before: async (turn) => {
      due(`model ${turn}`);
    },
    onCommit: (statements) => {
      const name = nameOf(statements);
      const fault = name === undefined ? undefined : due(name);
      return fault === undefined || fault === 'lost' ? fault : 'refused';
    },
  });
  await world.service.api(world.token, 'PATCH', `/projects/${world.project.id}`, { push: 'approved' });
  // Checks and a proof are steps of the run too.
  await handsOf(world).push('main', '.deckhand.yml', 'checks: node --test\n');
  world.github.fail((method, path) => due(`${method} ${path.replace(/agent%2F\w{8}|[0-9a-f]{40}|\d+/g, '#')}`));
}
beforeAll(open);
afterAll(() => world.close());

interface Shown extends WorldTask {
  issueNumber: number;
  attention: { id: string; reason: string } | null;
}

/** Calls the service. If it was killed, which may also happen after the run, restarts it first. */
function answerTo<T>(path: string): Promise<T> {
  return until(`an answer to ${path}`, async () => {
    if (isKilled) {
      isKilled = false;
      await world.kill();
      await world.restart();
    }
    return world.get<T>(path).catch(() => undefined);
  });
}

/** Answers the question and approves the change. What arrived before a fault is refused the second time. */
async function react({ id, attention }: Shown): Promise<void> {
  if (attention === null || attention.reason === 'model') return;
  const [verb, body] = attention.reason === 'question' ? ['answer', { text: '2' }] : ['approve', {}];
  await world.service
    .api(world.token, 'POST', `/tasks/${id}/${verb}`, { ...body, id: attention.id })
    .catch(() => undefined);
}

async function play(): Promise<Shown> {
  calls = [];
  isHit = false;
  refusals = 5;
  const number = await world.issue('/agent start');
  const inReview = async () => {
    const all = await answerTo<Shown[]>(`/projects/${world.project.id}/tasks?limit=100`);
    const task = all.find((t) => t.issueNumber === number);
    if (task !== undefined) await react(task);
    return task?.status === 'in_review' && task;
  };
  return until(`the task of issue ${number} in review`, inReview, 600_000);
}

/** After a fault at one of the model's refusals, fewer of them are left, so the run may go on without being parked. */
async function expectOneOfEach(task: Shown, leastWaits: 0 | 1): Promise<void> {
  expect(task.failure).toBeNull();
  const runs = await answerTo<{ id: string; status: string }[]>(`/tasks/${task.id}/runs`);
  expect(runs.map((r) => r.status)).toEqual(['succeeded']);
  const log = await answerTo<{ type: string; data: { reason?: string } }[]>(`/runs/${runs[0]?.id}/events`);
  const waits = log.flatMap(({ type, data }) => (type === 'waiting' ? [data.reason] : []));
  expect(waits.filter((reason) => reason !== 'model')).toEqual(['question', 'push']);
  expect(waits.length).toBeGreaterThanOrEqual(leastWaits + 2);
  expect(waits.length).toBeLessThanOrEqual(3);
  // The model read the answer once, and the change was pushed as it was approved.
  const prompt = JSON.stringify(world.model.requests.at(-1)?.messages);
  expect(prompt.split('answers \\"Which one?\\"]\\nthat')).toHaveLength(2);
  expect((await answerTo<{ handoffs: unknown[] }>(`/tasks/${task.id}/handoffs`)).handoffs).toHaveLength(1);
  expect(await answerTo(`/tasks/${task.id}/proof`)).toMatchObject({ status: 'proved' });
  expect(await answerTo<unknown[]>(`/tasks/${task.id}/prs`)).toHaveLength(1);
  const records = `/projects/${world.project.id}/audit?limit=100`;
  const audit = await answerTo<{ action: string; object: { id: string } }[]>(records);
  const actions = audit.filter(({ object }) => object.id === task.id).map(({ action }) => action);
  expect(actions).toEqual(['task.propose', 'task.approve', 'task.answer', 'task.start']);
  const folder = world.github.folderOf('mona/sample');
  const ofTask = `refs/heads/agent/${task.id.slice(-8)}*`;
  expect(gitOut(folder, 'for-each-ref', '--format=%(refname:short)', ofTask)).toBe(task.branchName);
  expect(gitOut(folder, 'rev-list', '--count', `main..${task.branchName}`)).toBe('1');
  const pulls = await world.github.as('mona')<{ head: { ref: string } }[]>(
    'GET',
    '/repos/mona/sample/pulls?state=all&per_page=100',
  );
  expect(pulls.filter((p) => p.head.ref === task.branchName)).toHaveLength(1);
  let shown = '';
  await until('one label and one comment', async () => {
    await answerTo('/me');
    const labels = (await world.labels(task.issueNumber)).filter((l) => l.startsWith('agent:'));
    const own = (await world.comments(task.issueNumber)).filter((c) => c.user.login === 'deckhand[bot]');
    shown = `${labels.join()} and ${own.map((c) => c.body).join('\n---\n')}`;
    return labels.join() === 'agent:in-review' && own.length === 1;
  }).catch((error: Error) => {
    throw new Error(`${error.message}; there is ${shown}`);
  });
}

/**
 * Expects that no workspace and no process of a killed service is left. Its processes have its folders in their
 * arguments.
 */
async function expectNothingLeft(): Promise<void> {
  await until('the leftovers of killed services to be gone', async () => {
    await answerTo('/me');
    const isRunning = [...theirs].some((folder) => commandsIn(`/runs/${basename(folder)}/`).length > 0);
    const own = foldersOf([world.service.process.pid ?? 0]);
    const isClear = own.every((folder) => readdirSync(folder).join() === 'owner');
    return !isRunning && foldersOf(killed).length === 0 && isClear;
  });
}

/** Returns the workspace folders of these processes. */
function foldersOf(pids: number[]): string[] {
  const places = ['/var/lib/deckhand/work', `/var/tmp/deckhand-${process.getuid?.()}`, world.settings.DATA_DIR ?? ''];
  const all = places.map((place) => join(place, 'runs')).filter((place) => existsSync(place));
  const folders = all.flatMap((place) => readdirSync(place).map((name) => join(place, name)));
  return folders.filter((folder) => pids.some((pid) => textOf(join(folder, 'owner')) === `${hostname()}-${pid}`));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

test('killed before or after any external effect, or with its response lost, a run makes one branch, one pull request, one handoff', async () => {
  // The first run also does one-time work: it creates labels and handles events from before the start.
  await expectOneOfEach(await play(), 1);
  await expectOneOfEach(await play(), 1);
  const points = calls.map((name, i) => ({ name, nth: calls.slice(0, i).filter((c) => c === name).length }));
  expect(points.length).toBeGreaterThan(20);
  const chosen = choose((['before', 'after', 'lost'] as const).flatMap((kind) => points.map((at) => ({ kind, at }))));
  const [wrong, missed]: [string[], string[]] = [[], []];
  for (const [i, { kind, at }] of chosen.entries()) {
    // The emulator limits the calls per hour, so start another one from time to time.
    if (i > 0 && i % 40 === 0) {
      await world.close();
      await open();
    }
    [how, target] = [kind, at];
    const name = `${kind} ${at.name}, number ${at.nth + 1}`;
    const began = performance.now();
    const problem = await problemOf(name);
    target = undefined;
    if (problem !== undefined) wrong.push(problem);
    if (!isHit) missed.push(name);
    if (!isHit && ofEveryRun.test(at.name)) wrong.push(`${name}: not reached`);
    if (tellsTimes) process.stderr.write(`${name}: ${Math.round(performance.now() - began)} ms\n`);
  }
  // Concurrent work sometimes takes fewer steps, so a point of the first runs may not occur again.
  if (missed.length > 0)
    process.stderr.write(`not reached, ${missed.length} of ${chosen.length}:\n${missed.join('\n')}\n`);
  if (killed.length > 0) expect(theirs.size).toBeGreaterThan(0);
  expect(wrong).toEqual([]);
}, 3_600_000);

/** Selects all cases, those requested by name, or a few of those that occur in every run. */
function choose<C extends { kind: string; at: { name: string } }>(cases: C[]): C[] {
  if (asked !== undefined) return cases.filter(({ kind, at }) => `${kind} ${at.name}`.includes(asked));
  if (isThorough) return cases;
  const surest = cases.filter(({ at }) => ofEveryRun.test(at.name));
  return surest.filter((_, i) => i % Math.ceil(surest.length / samples) === 1);
}

/** Plays a run with the current fault; returns what is wrong afterwards, with the end of the service's log. */
async function problemOf(name: string): Promise<string | undefined> {
  try {
    await expectOneOfEach(await play(), 0);
    await expectNothingLeft();
    return undefined;
  } catch (error) {
    const problem = `${name}: ${(error as Error).message}\n${world.service.log().slice(-2000)}`;
    process.stderr.write(`${problem}\n`);
    return problem;
  }
}
