import { homedir, hostname } from 'node:os';
import { resolve } from 'node:path';
import type { ModelRequest, Said } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { memoryMb, untilNoneHas } from '../../support/machine/processes.ts';
import { openSeparateWorld, type SeparateWorld, type WorldTask } from '../../support/world.ts';

const sh = (command: string): Said => [{ name: 'run_command', arguments: { command, timeoutSeconds: 200 } }];
const seconds = `9${process.pid}`;

/** By title of the task: what a hostile agent does, and how its run should end. */
const attacks: Record<string, { command: string; says: RegExp }> = {
  'Fork bomb': {
    command: `bash -c 'bomb() { bomb | bomb & }; bomb; sleep ${seconds}'`,
    says: /^the run had more than 300 processes and threads \(MAX_RUN_PROCESSES\)$/,
  },
  'Memory in pieces': {
    // Each process alone may use this much memory.
    command: `for i in 1 2 3 4 5; do perl -e '$x = "x" x 150_000_000; sleep ${seconds}' & done; wait`,
    says: /^the run used more than 512 MB of memory \(MAX_RUN_MEMORY_MB\)$/,
  },
  'Disk in pieces': {
    command: `for i in 1 2 3 4 5 6 7 8; do head -c 20000000 /dev/zero > /tmp/$i; done; sleep ${seconds}`,
    says: /^the run used more than 100 MB of disk \(MAX_RUN_DISK_MB\)$/,
  },
};

/** Prints everything that could reveal to a command where it runs. */
const lookAround =
  'cat /proc/*/cmdline /proc/*/mountinfo /proc/*/mounts /proc/*/environ 2> /dev/null; env; hostname; ls -l /proc/self/cwd /proc/1/fd 2> /dev/null';

let world: SeparateWorld;
let isOver = false;
afterAll(() => world?.close());

function textOf(request: ModelRequest): string {
  return JSON.stringify(request.messages.slice(0, 2));
}

/**
 * Returns the honest agent's calls. It works until the last attack is over, and for three commands at least, however
 * slow the machine is; each of its commands starts a few dozen processes.
 */
function honestly(turn: number): Said {
  if (turn === 0) return sh(lookAround);
  if (!isOver || turn <= 3) return sh(`for i in $(seq 30); do /bin/true || exit 9; done; echo round ${turn}`);
  return [
    { name: 'write_file', arguments: { path: 'honest.txt', content: 'done\n' } },
    { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } },
  ];
}

test('a run that exceeds a limit ends and names the limit; an honest run at the same time succeeds', async () => {
  world = await openSeparateWorld(
    (request, turn) => {
      const attack = Object.entries(attacks).find(([title]) => textOf(request).includes(title))?.[1];
      return attack === undefined ? honestly(turn) : sh(attack.command);
    },
    { settings: { MAX_RUN_PROCESSES: '300', MAX_RUN_MEMORY_MB: '512', MAX_RUN_DISK_MB: '100', MAX_RUN_STEPS: '1000' } },
  );
  const { api, process: service } = world.service;
  const memoryBefore = memoryMb(service.pid);
  const agents = await world.get<{ id: string }[]>(`/agents?projectId=${world.project.id}`);
  // Each task has its own agent, because an agent has one run at a time.
  for (const [i, title] of ['Honest work', ...Object.keys(attacks)].entries()) {
    const given = { title, owner: agents[i]?.id, status: 'ready' };
    const { id } = await api<WorldTask>(world.token, 'POST', `/projects/${world.project.id}/tasks`, given);
    await api(world.token, 'POST', `/tasks/${id}/start`);
  }
  const tasks = () => world.get<WorldTask[]>(`/projects/${world.project.id}/tasks`);
  const hostile = await until('the hostile runs to end', async () => {
    const failed = (await tasks()).filter((t) => t.title in attacks && t.failure !== null);
    return failed.length === Object.keys(attacks).length && failed;
  });
  isOver = true;
  for (const { title, failure } of hostile)
    expect([title, failure]).toEqual([
      title,
      expect.objectContaining({ category: 'sandbox', message: expect.stringMatching(attacks[title]?.says ?? /^$/) }),
    ]);
  const honest = await until('the honest run to end', async () =>
    (await tasks()).find((t) => t.title === 'Honest work' && ['in_review', 'ready'].includes(t.status)),
  );
  expect(honest).toMatchObject({ status: 'in_review', failure: null });
  const conversation = world.model.requests.findLast((r) => textOf(r).includes('Honest work'))?.messages ?? [];
  const results = conversation.filter((m) => m.role === 'tool').map((m) => String(m.content));
  const [seen = '', ...answers] = results.filter((text) => !/^wrote |^The run has not ended/.test(text));
  expect(seen).toContain(' /work ');
  const ours = [world.settings.DATA_DIR, resolve('.'), homedir(), `${hostname()}-${world.service.process.pid}`];
  expect(ours.filter((path) => seen.includes(path ?? ''))).toEqual([]);
  expect(answers.length).toBeGreaterThan(2);
  expect(answers.filter((text) => !/^\[exit code 0\] after [\d.]+ s\nround \d+\n$/.test(text))).toEqual([]);
  await untilNoneHas(seconds);
  // The attack on memory used more than 512 MB of its own.
  expect(memoryMb(service.pid, 'VmHWM') - memoryBefore).toBeLessThan(450);
});
