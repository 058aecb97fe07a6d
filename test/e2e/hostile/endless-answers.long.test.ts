import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { until } from '../../../demo/real-service.ts';
import { lateAnswers } from '../../support/http/health.ts';
import { memoryMb } from '../../support/machine/processes.ts';
import { testSome } from '../../support/thorough.ts';
import { openSeparateWorld, type SeparateWorld, type WorldTask } from '../../support/world.ts';

let hostile: ChildProcess;
let url: string;
let world: SeparateWorld;

beforeAll(async () => {
  const file = fileURLToPath(new URL('../../support/stand-ins/hostile-model.ts', import.meta.url));
  hostile = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = await once(hostile.stdout as NodeJS.ReadableStream, 'data');
  url = `http://127.0.0.1:${String(port).trim()}`;
  const settings = { OPENAI_BASE_URL: `${url}/v1`, MODEL_ANSWER_SECONDS: '4', SANDBOX: 'off' };
  world = await openSeparateWorld([], { settings });
});
afterAll(async () => {
  hostile.kill();
  await world.close();
});

const residentMb = () => memoryMb(world.service.process.pid);
const post = <T>(path: string, body = {}) => world.service.api<T>(world.token, 'POST', path, body);

/** Returns the result of `act`, how much memory the service gained during it, and how many answers to others were late. */
async function watched<T>(act: () => Promise<T>) {
  const before = residentMb();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, residentMb());
  }, 25);
  let result: T | undefined;
  const late = await lateAnswers(world.service, async () => {
    result = await act();
  }).finally(() => clearInterval(watch));
  return { result: result as T, grownMb: most - before, late };
}

function expectUnharmed({ grownMb, late }: Awaited<ReturnType<typeof watched>>) {
  // Without limits it would grow by gigabytes. The bound is loose, because garbage is collected at varying times.
  expect(grownMb).toBeLessThan(300);
  expect(late).toBeLessThan(10);
}

async function run(): Promise<WorldTask> {
  const [agent] = await world.get<{ id: string }[]>(`/agents?projectId=${world.project.id}`);
  const { id } = await post<{ id: string }>(`/projects/${world.project.id}/tasks`, { title: 'x', owner: agent?.id });
  await post(`/tasks/${id}/start`);
  return until('the end of the run', async () => {
    const task = await world.get<WorldTask>(`/tasks/${id}`);
    return task.status !== 'in_progress' && task;
  });
}

// On a busy machine the seconds may be over before a size is reached.
testSome<[string, RegExp]>(3, [
  ['gzip-bomb', /is compressed, although that was not asked for/],
  ['drip', /not complete after 4 s/],
  // Runs stream too.
  ['endless-content', /larger than 4 MB|not complete/],
  ['endless-text', /larger than 4 MB|not complete/],
  ['empty-lists', /more than 100000 values|not complete/],
  ['endless-error', /HTTP 400/],
  ['silence', /not complete after 4 s/],
  ['redirect', /redirects to another host/],
  ['call-number', /more than 1000 calls/],
])('%s from a model server ends the run with a clear failure and does no harm', async (attack, message) => {
  await fetch(`${url}/attack/${attack}`);
  const seen = await watched(run);
  expect(seen.result.failure).toMatchObject({ category: 'model', message: expect.stringMatching(message) });
  expectUnharmed(seen);
});

testSome<[string, RegExp]>(2, [
  ['endless-event', /event larger than 4 MB|not complete/],
  ['empty-events', /more than 400000 events|not complete|sent nothing for 2 s/],
  ['endless-content', /larger than 4 MB|not complete/],
  ['idle-events', /larger than 64 MB|not complete/],
  ['call-number', /more than 1000 calls/],
  ['dripped-events', /not complete after 4 s/],
])('a stream of %s ends the chat with a clear failure and does no harm', async (attack, message) => {
  await fetch(`${url}/attack/${attack}`);
  const { id } = await post<{ id: string }>(`/projects/${world.project.id}/tasks`, { title: 'Talk' });
  const headers = { Authorization: `Bearer ${world.token}`, Accept: 'text/event-stream' };
  const seen = await watched(async () => {
    const answer = await fetch(`${world.service.url}/api/v1/tasks/${id}/chat`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: '{"message":"hello"}',
    });
    return answer.text();
  });
  expect(seen.result.slice(-500)).toMatch(message);
  expectUnharmed(seen);
});
