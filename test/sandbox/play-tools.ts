import { RunFailed } from '../../src/domain/run.ts';
import { type BackgroundService, startServices } from '../../src/sandbox/machine/machine.ts';
import type { Machine, MachineSettings, ToolHost } from '../../src/sandbox/sandbox.ts';
import { openSandbox } from '../../src/sandbox/self-test.ts';

/**
 * Plays calls of tools in a process of its own, which may have another user. Each run in `runs` has a folder with `work`
 * and `git`. The tool `services` starts `args.services`. Prints the answers as JSON, in order, once all runs have been
 * closed.
 */
export interface Play {
  toolsDir: string;
  /** `news` are what `afterCommand` returns, one after the other. */
  runs: Record<string, { folder: string; settings?: MachineSettings; news?: string[] }>;
  calls: { run: string; tool: string; args: object; until?: string }[];
}

const { toolsDir, runs, calls } = JSON.parse(process.argv[2] ?? '') as Play;
const limits = { memoryMb: 4096, diskMb: 10_240, processes: 1024 };
const sandbox = await openSandbox({ setting: 'auto', toolsDir, limits });
const hosts = new Map<string, ToolHost>();
const ends: (() => Promise<void>)[] = [];
for (const [name, { folder, settings, news = [] }] of Object.entries(runs)) {
  const confinement = await sandbox.confine(new AbortController().signal);
  await confinement.own(`${folder}/work`);
  const host = await confinement.open(`${folder}/work`, `${folder}/git`);
  host.configure({ ...settings, afterCommand: () => news.shift() });
  hosts.set(name, host);
  ends.push(() => host.close().then(confinement.close));
}

async function serve(machine: Machine, args: { services?: BackgroundService[]; seconds?: number }) {
  const signal = new AbortController().signal;
  const problem = await startServices(machine, args.services ?? [], { signal, ...args });
  return problem === undefined ? 'all are up' : `${problem.message}. Its output:\n${problem.output}`;
}

/** Calls a tool. A failure of the run is an answer too. */
async function call(run: string, tool: string, args: object): Promise<string> {
  const host = hosts.get(run);
  if (host === undefined) throw new Error(`there is no run ${run}`);
  try {
    if (tool === 'services') return await serve(await host.machine(), args);
    return (await host.call(tool, args)).text;
  } catch (error) {
    if (error instanceof RunFailed) return `the run failed with ${error.failure.category}: ${error.message}`;
    throw error;
  }
}

/** Repeats a call until its answer has a text. The time limit of the test ends it otherwise. */
async function play({ run, tool, args, until = '' }: Play['calls'][number]): Promise<string> {
  for (;;) {
    const text = await call(run, tool, args);
    if (text.includes(until)) return text;
  }
}

const answers: string[] = [];
if (sandbox.state.works) for (const each of calls) answers.push(await play(each));
for (const end of ends) await end();
process.stdout.write(JSON.stringify({ state: sandbox.state, answers }));
