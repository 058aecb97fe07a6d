import { openSandbox } from '../../src/sandbox/bubblewrap.ts';
import type { MachineSettings, ToolHost } from '../../src/sandbox/sandbox.ts';

/**
 * Plays calls of tools in a process of its own, which may have another user. Each run in `runs` has a folder with `work`
 * and `git`. Prints the answers as JSON, in order, once all runs have been closed.
 */
export interface Play {
  toolsDir: string;
  runs: Record<string, { folder: string; settings?: MachineSettings }>;
  calls: { run: string; tool: string; args: object; until?: string }[];
}

const { toolsDir, runs, calls } = JSON.parse(process.argv[2] ?? '') as Play;
const limits = { memoryMb: 4096, diskMb: 10_240, processes: 1024 };
const sandbox = await openSandbox({ setting: 'auto', toolsDir, limits });
const hosts = new Map<string, ToolHost>();
const ends: (() => Promise<void>)[] = [];
for (const [name, { folder, settings }] of Object.entries(runs)) {
  const confinement = await sandbox.confine(new AbortController().signal);
  await confinement.own(`${folder}/work`);
  const host = await confinement.open(`${folder}/work`, `${folder}/git`);
  if (settings !== undefined) host.equip(settings);
  hosts.set(name, host);
  ends.push(() => host.close().then(confinement.close));
}

/** Repeats a call until its answer has a text. The time limit of the test ends it otherwise. */
async function play({ run, tool, args, until = '' }: Play['calls'][number]): Promise<string> {
  for (;;) {
    const { text } = (await hosts.get(run)?.call(tool, args)) ?? { text: `no run ${run}` };
    if (text.includes(until)) return text;
  }
}

const answers: string[] = [];
if (sandbox.state.works) for (const call of calls) answers.push(await play(call));
for (const end of ends) await end();
process.stdout.write(JSON.stringify({ state: sandbox.state, answers }));
