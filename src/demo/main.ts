import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGitHub } from './github.ts';
import { startModel } from './model.ts';
import { type RunningService, startService, until } from './real-service.ts';
import { demoSettings, freePort } from './settings.ts';
import { issue, script } from './story.ts';

const began = performance.now();
let last = began;
/** A line of the story, with the time it took. */
function say(text: string): void {
  const now = performance.now();
  process.stdout.write(
    `${((now - began) / 1000).toFixed(1).padStart(6)} s  ${text}  \x1b[2m(+${Math.round(now - last)} ms)\x1b[0m\n`,
  );
  last = now;
}
const indent = (text: string) => text.replace(/^/gm, '          ');

interface Task {
  id: string;
  status: string;
  prUrl: string | null;
  branchName: string | null;
  failure: { message: string } | null;
}
interface FileDiff {
  path: string;
  additions: number;
  deletions: number;
  hunks: { oldStart: number; oldLines: number; newStart: number; newLines: number; lines: string[] }[];
}

const ends: (() => Promise<void>)[] = [];
async function end(): Promise<void> {
  for (const close of ends.splice(0).reverse()) await close().catch(() => {});
}

async function play(): Promise<{ service: RunningService; token: string }> {
  const github = await startGitHub({ owner: 'mona', repository: 'sample', people: ['hubot'] });
  ends.push(github.close);
  say(`GitHub emulator with a git server at ${github.url}`);
  const model = await startModel(script);
  ends.push(model.close);
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-demo-'));
  ends.push(() => rm(dataDir, { recursive: true, force: true }));
  const service = await startService(demoSettings({ github, model, port: await freePort(3000), dataDir }));
  ends.push(() => service.stop());
  github.deliverTo(`${service.url}/api/github/webhooks`);
  say(`the service, real and unchanged, at ${service.url}`);
  const token = await service.token('mona');
  const get = <T>(path: string) => service.api<T>(token, 'GET', path);
  const project = await until(
    'the installation to become a project',
    async () => (await get<{ id: string; name: string }[]>('/projects'))[0],
  );
  say(`the App's installation became the project "${project.name}" (${project.id})`);

  const mona = github.as('mona');
  const opened = await mona<{ number: number }>('POST', '/repos/mona/sample/issues', issue);
  say(`mona opens issue #${opened.number}: ${issue.title}`);
  await mona('POST', `/repos/mona/sample/issues/${opened.number}/comments`, { body: '/agent start' });
  say('mona comments: /agent start');
  const task = await until('the task', async () => (await get<Task[]>(`/projects/${project.id}/tasks`))[0]);
  say(`the task ${task.id} is there and starts`);
  await followRun(get, task.id);

  const proposed = await get<Task>(`/tasks/${task.id}`);
  if (proposed.status !== 'in_review')
    throw new Error(`the task is ${proposed.status}: ${proposed.failure?.message ?? 'no reason given'}`);
  say(`pull request ${proposed.prUrl} from ${proposed.branchName}`);
  const { files } = await get<{ files: FileDiff[] }>(`/tasks/${task.id}/diff`);
  for (const file of files) printDiff(file);
  await service.api(token, 'POST', `/tasks/${task.id}/merge`);
  say('mona merges it (POST /tasks/:id/merge)');
  const shown = await until('agent:done on the issue', async () => {
    const found = await mona<{ state: string; labels: { name: string }[] }>(
      'GET',
      `/repos/mona/sample/issues/${opened.number}`,
    );
    // The new label goes on before the old one comes off.
    const isSettled = found.labels.map((l) => l.name).join() === 'agent:done';
    return isSettled && found.state === 'closed' && found;
  });
  say(`issue #${opened.number} is ${shown.state}, labels: ${shown.labels.map((l) => l.name).join(', ')}`);
  const comments = await until('the status comment', async () => {
    const path = `/repos/mona/sample/issues/${opened.number}/comments`;
    const found = await mona<{ user: { login: string }; body: string }[]>('GET', path);
    return found.some((c) => c.body.includes('✅ Done')) && found;
  });
  for (const { user, body } of comments)
    process.stdout.write(`${indent(`${user.login}: ${body.split('\n').join('\n  ')}`)}\n`);
  say('the whole way is done');
  return { service, token };
}

/** Tells what a run does, as it does it. */
async function followRun(get: <T>(path: string) => Promise<T>, taskId: string): Promise<void> {
  const run = await until('the run', async () => (await get<{ id: string }[]>(`/tasks/${taskId}/runs`))[0]);
  let seen = 0;
  await until('the end of the run', async () => {
    const { status } = await get<{ status: string }>(`/runs/${run.id}`);
    const events = await get<{ id: number; type: string; text: string }[]>(`/runs/${run.id}/events`);
    for (const event of events.filter((e) => e.id > seen)) say(`  ${event.type}: ${event.text}`);
    seen = events.at(-1)?.id ?? seen;
    return !['queued', 'running'].includes(status);
  });
}

function printDiff({ path, additions, deletions, hunks }: FileDiff): void {
  const text = [`${path}  +${additions} -${deletions}`];
  for (const h of hunks) text.push(`@@ -${h.oldStart},${h.oldLines} +${h.newStart},${h.newLines} @@`, ...h.lines);
  process.stdout.write(`${indent(text.join('\n'))}\n`);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    await end();
    process.exit(0);
  });

try {
  const { service, token } = await play();
  if (process.argv.includes('--once')) await end();
  else
    process.stdout.write(
      `\nThe service stays up; Ctrl+C ends it.\n  dashboard ${service.url} (sign in as mona)\n  API docs  ${service.url}/api/v1/docs/\n  token     ${token}\n`,
    );
} catch (error) {
  process.stderr.write(`the demo stopped: ${(error as Error).message}\n`);
  await end();
  process.exitCode = 1;
}
