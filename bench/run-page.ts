import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { CDPSession, Page } from 'playwright-core';
import { launchBrowser, signIn } from '../demo/browser.ts';
import { startGitHub } from '../demo/github/github.ts';
import { startModel } from '../demo/model/model.ts';
import { type RunningService, startService, until } from '../demo/real-service.ts';
import { demoSettings, freePort } from '../demo/settings.ts';
import { startEmbedded } from '../src/db/embedded/embedded.ts';
import { webhookUrl } from '../src/github/app/manifest.ts';
import { say } from './figures.ts';

/** Entries of the log for each turn: the answer, its calls and a note. */
const entriesPerTurn = 5;
const runId = 'run_long';

/**
 * Opens the page of a run with many entries in a browser, and adds turns while it is shown: first at the speed of a busy
 * run, one turn or five entries a second, then those of ten minutes in one minute. Prints how much of the time the page's
 * main thread was busy, its long tasks, and its memory.
 */
export async function runPageSpeed(entries = 2000, seconds = 60): Promise<void> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const dir = await mkdtemp(join(tmpdir(), 'deckhand-bench-run-'));
    ends.push(() => rm(dir, { recursive: true, force: true }));
    const postgres = await startEmbedded({ dataDir: join(dir, 'database') });
    ends.push(() => postgres.stop());
    const github = await startGitHub({ owner: 'mona', repository: 'sample', people: ['mona'] });
    ends.push(github.close);
    const model = await startModel([]);
    ends.push(model.close);
    const settings = demoSettings({ github, model, port: await freePort(), dataDir: join(dir, 'data') });
    const secrets = { JWT_SECRET: 'a secret of the bench that is long enough', ENCRYPTION_KEY: '22'.repeat(32) };
    const service = await startService({ ...settings, ...secrets, DATABASE_URL: postgres.url });
    ends.push(() => service.stop());
    github.deliverTo(webhookUrl(service.url));
    const database = new pg.Client({ connectionString: postgres.url });
    await database.connect();
    ends.push(() => database.end());
    const taskId = await addRun(service, database, Math.ceil(entries / entriesPerTurn));
    const browser = await launchBrowser();
    ends.push(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await signIn(page, service.url, 'mona');
    await watch(page, database, { address: `${service.url}/tasks/${taskId}/runs/${runId}`, entries, seconds });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function watch(
  page: Page,
  database: pg.Client,
  { address, entries, seconds }: { address: string; entries: number; seconds: number },
): Promise<void> {
  await page.addInitScript(
    'window.longTasks = []; new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((e) => e.duration))).observe({ entryTypes: ["longtask"] });',
  );
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  let turn = Math.ceil(entries / entriesPerTurn);
  const began = performance.now();
  await page.goto(address);
  await page.getByText(`Words of turn ${turn}.`).waitFor();
  say(`${entries} entries and ${turn} turns are shown after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  say(`long tasks until then: ${await longTasks(page)}`);
  const live = async (count: number, turnMs: number) => {
    const before = await measure(devtools);
    for (const last = turn + count; turn < last; ) await addLiveTurn(database, ++turn, turnMs);
    await page.getByText(`Words of turn ${turn}.`).waitFor();
    const after = await measure(devtools);
    const wall = after.Timestamp - before.Timestamp;
    const share = (name: 'TaskDuration' | 'ThreadTime') =>
      `${((100 * (after[name] - before[name])) / wall).toFixed(1)} %`;
    say(`  main thread busy ${share('TaskDuration')} of the time (processor ${share('ThreadTime')})`);
    say(`  memory of scripts ${megabytes(before)} before, ${megabytes(after)} after`);
    say(`  long tasks: ${await longTasks(page)}`);
  };
  say(`one turn a second, ${entriesPerTurn} entries and 4 pieces of text, for ${seconds} s:`);
  await live(seconds, 1000);
  say('ten turns a second for a minute, as many as in ten minutes:');
  await live(600, 100);
}

interface Figures {
  Timestamp: number;
  TaskDuration: number;
  ThreadTime: number;
  JSHeapUsedSize: number;
}

/** Reads the figures of the page after a garbage collection. Times are in seconds. */
async function measure(devtools: CDPSession): Promise<Figures> {
  await devtools.send('HeapProfiler.collectGarbage');
  const { metrics } = await devtools.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value])) as unknown as Figures;
}

const megabytes = ({ JSHeapUsedSize }: Figures) => `${(JSHeapUsedSize / 1e6).toFixed(1)} MB`;

/** Describes the long tasks since the last call. */
async function longTasks(page: Page): Promise<string> {
  const all = (await page.evaluate('window.longTasks.splice(0)')) as number[];
  const over100 = all.filter((ms) => ms > 100).length;
  return `${over100} over 100 ms, the longest ${Math.max(0, ...all).toFixed(0)} ms`;
}

/** Adds a task with a run in progress that has this many turns, and returns the id of the task. */
async function addRun(service: RunningService, database: pg.Client, turns: number): Promise<string> {
  const token = await service.token('mona');
  const project = await until(
    'the project',
    async () => (await service.api<{ id: string }[]>(token, 'GET', '/projects'))[0],
  );
  const task = await service.api<{ id: string }>(token, 'POST', `/projects/${project.id}/tasks`, { title: 'Long' });
  await database.query(`update tasks set status = 'in_progress' where id = $1`, [task.id]);
  // Nobody takes over a run whose lease has not expired.
  await database.query(
    `insert into runs (id, task_id, project_id, kind, status, steps, started_at, lease_until)
     values ($1, $2, $3, 'start', 'running', $4, now(), now() + interval '1 day')`,
    [runId, task.id, project.id, turns],
  );
  for (let turn = 1; turn <= turns; turn++) await addTurn(database, turn);
  return task.id;
}

const commands = ['read_file src/slugify.js', 'edit_file src/slugify.js', 'run_command npm test'];

async function addTurn(database: pg.Client, turn: number): Promise<void> {
  await note(database, 'model', 'scripted answered', { turn, calls: commands, ms: 900 });
  for (const [call, text] of commands.entries()) await note(database, 'tool', text, { turn, call, ok: true, ms: 40 });
  await note(database, 'network', `example.com was refused (${turn} times)`, {});
  await storeTurn(database, turn);
}

async function note(database: pg.Client, type: string, text: string, data: object): Promise<void> {
  await database.query('insert into run_events (run_id, type, text, data) values ($1, $2, $3, $4)', [
    runId,
    type,
    text,
    data,
  ]);
}

const lines = Array.from({ length: 40 }, (_, n) => `  line ${n} of the result, as long as lines of code usually are`);

async function storeTurn(database: pg.Client, turn: number): Promise<void> {
  const given = [
    { path: 'src/slugify.js' },
    { path: 'src/slugify.js', old: `const n = ${turn};\nreturn n;`, new: `const n = ${turn + 1};\nreturn n;` },
    { command: 'npm test' },
  ];
  const toolCalls = given.map((each, i) => ({
    id: `call_${i}`,
    name: commands[i]?.split(' ')[0],
    arguments: JSON.stringify(each),
  }));
  const results = toolCalls.map(({ id }, i) => ({
    role: 'tool',
    toolCallId: id,
    content: i === 2 ? `[exit code 0] after 1.2 s\n${lines.join('\n')}` : lines.join('\n'),
  }));
  const content = `Words of turn ${turn}. ${'The model explains what it does and why. '.repeat(8)}`;
  await database.query(
    `insert into run_turns (run_id, turn, messages, input_tokens, cached_input_tokens, output_tokens, cost_usd)
     values ($1, $2, $3, 9000, 8000, 300, 0.01)`,
    [runId, turn - 1, JSON.stringify([{ role: 'assistant', content, toolCalls }, ...results])],
  );
}

/** Adds a turn as a run does: text in pieces, then the calls one after the other, then the stored turn. */
async function addLiveTurn(database: pg.Client, turn: number, turnMs: number): Promise<void> {
  const end = performance.now() + turnMs;
  const pause = () => sleep(turnMs / 12);
  for (let piece = 0; piece < 4; piece++) {
    const text = JSON.stringify({ turn: turn - 1, text: 'The model explains what it does and why. ' });
    await database.query(`select pg_notify('changes', $1)`, [`text ${runId}\n${text}`]);
    await pause();
  }
  await note(database, 'model', 'scripted answered', { turn, calls: commands, ms: 900 });
  for (const [call, text] of commands.entries()) {
    await pause();
    await note(database, 'tool', text, { turn, call, ok: true, ms: 40 });
  }
  await note(database, 'network', `example.com was refused (${turn} times)`, {});
  await database.query('begin');
  await storeTurn(database, turn);
  await database.query(
    `update runs set steps = $2, input_tokens = input_tokens + 9000, output_tokens = output_tokens + 300,
       cost_usd = coalesce(cost_usd, 0) + 0.01 where id = $1`,
    [runId, turn],
  );
  await database.query('commit');
  await sleep(Math.max(0, end - performance.now()));
}
