import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Confinement, ToolHost } from '../../src/sandbox/sandbox.ts';
import { openSandbox } from '../../src/sandbox/self-test.ts';

/**
 * Runs hostile runs and an honest one at the same time, in a separate process that may have another user
 * (`limits.long.test.ts`). Prints as JSON how each hostile run ended and what the honest one saw.
 */
const [folder = '', attacks = '{}'] = process.argv.slice(2);
const limits = { memoryMb: 200, diskMb: 20, processes: 100 };
const sandbox = await openSandbox({ setting: 'auto', toolsDir: join(folder, 'tools'), limits });

interface Run {
  confinement: Confinement;
  host: ToolHost;
  close(): Promise<void>;
}

async function openRun(name: string): Promise<Run> {
  const [work, git] = [join(folder, name, 'work'), join(folder, name, 'git')];
  for (const path of [work, git]) mkdirSync(path, { recursive: true });
  const confinement = await sandbox.confine(new AbortController().signal);
  const host = await confinement.open(work, git);
  const close = async () => {
    await host.close();
    await confinement.close();
  };
  return { confinement, host, close };
}

const honest = await openRun('honest');
const met: string[] = [];
/** Starts a dozen processes, and reads a file through the tool host. */
async function workHonestly(): Promise<void> {
  const { text } = await honest.host.call('run_command', {
    command: 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true || exit 9; done; echo ok > a.txt',
    timeoutSeconds: 200,
  });
  // Without the duration, which varies.
  met.push(text.split('] ')[0] ?? '', (await honest.host.call('read_text', { path: 'a.txt' })).text);
}

async function attack(name: string, command: string): Promise<string> {
  const run = await openRun(name.replaceAll(' ', '-'));
  const end = await run.host.call('run_command', { command, timeoutSeconds: 200 }).then(
    (answer) => answer.text,
    (error) => `${error.failure?.category}: ${error.message}`,
  );
  await run.close();
  return end;
}

let isOver = false;
const commands = Object.entries(JSON.parse(attacks) as Record<string, string>);
const attacking = Promise.all(
  commands.map(async ([name, command]): Promise<[string, string]> => [name, await attack(name, command)]),
).finally(() => {
  isOver = true;
});
for (let rounds = 0; rounds < 2 || !isOver; rounds++) await workHonestly();
const ends = Object.fromEntries(await attacking);
await honest.close();
process.stdout.write(JSON.stringify({ state: sandbox.state, ends, met }));
