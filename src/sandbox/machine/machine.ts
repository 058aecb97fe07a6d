import { execFile } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { copyFile, cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { RunFailed } from '../../domain/run.ts';
import { cappedOutput, readPaced } from '../command-host.ts';
import { commandLayout, type SandboxLayout, type ShownTree, scriptPath } from '../layout.ts';
import { removeTree } from '../neutral-path.ts';
import type { CommandEnd, CommandOptions, Machine, MachineOptions, RunningCommand } from '../sandbox.ts';
import { startSandboxed } from '../sandboxed-process.ts';
import { imageSystem } from './image-system.ts';
import { type Network, openNetwork } from './network.ts';
import { hostSystem, type SandboxParts, type System } from './system.ts';

/** A program that the commands of a machine use, such as a database. */
export interface BackgroundService {
  run: string;
  /** The port on which it accepts connections when it is up. Without one, it is up when it has run for a second. */
  port?: number | undefined;
}

const [usualSeconds, settledSeconds, pauseMs] = [60, 1, 100];
/** Characters kept from the start and from the end of a service's output. */
const shownChars = 4000;
/** Longest part of a service's command in a message. */
const namedChars = 200;

/**
 * Starts services and waits until all are up. They run until the machine is closed. Returns what is wrong with one that
 * has ended or is not up in time, and its output; undefined when all are up.
 */
export async function startServices(
  machine: Machine,
  services: BackgroundService[],
  { signal, seconds = usualSeconds }: { signal: AbortSignal; seconds?: number },
): Promise<{ message: string; output: string } | undefined> {
  const waiting = services.map((service) => started(machine, service));
  for (;;) {
    const ended = waiting.find(({ end }) => end() !== undefined);
    if (ended !== undefined) return ended.problem(`is not up: ${ended.end()}`);
    const slow = waiting.filter(({ isUp }) => !isUp());
    if (slow.length === 0) return undefined;
    const late = slow.find(({ running }) => running.seconds() >= seconds);
    if (late !== undefined) return late.problem(`is not up: nothing listens on port ${late.port} after ${seconds} s`);
    await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function started(machine: Machine, { run, port }: BackgroundService) {
  const running = machine.start(run, shownChars);
  let end: string | undefined;
  void running.ended.then(({ how, exitCode }) => {
    end = exitCode === 0 ? `${how}; a service must stay in the foreground` : how;
  });
  return {
    port,
    running,
    /** How it ended; undefined while it runs. */
    end: () => end,
    isUp: () => (port === undefined ? running.seconds() >= settledSeconds : machine.isListening(port)),
    problem: (what: string) => ({
      message: `the service "${run.slice(0, namedChars)}" ${what}`,
      output: running.output().trimEnd() || '(none)',
    }),
  };
}

/** What a machine needs from the confinement of its run. */
export interface MachinePlace {
  parts: SandboxParts;
  /** Ends the machine. */
  signal: AbortSignal;
  /** The folders whose files count for the run's limit on disk. */
  counted: { add(folder: string): void; delete(folder: string): void };
}

/** Opens a machine; see `Machine`. @throws RunFailed `sandbox` */
export async function openMachine(place: MachinePlace, options: MachineOptions): Promise<Machine> {
  const { parts, counted, signal } = place;
  const copies = gitCopies(parts.who, counted);
  const system = options.root === undefined ? hostSystem(parts) : await imageSystem(options.root);
  const network = await openNetwork(parts, options.egressSocket);
  const machine = new OpenMachine({ place, options, system, network, copies });
  try {
    await machine.mount('work', options.workTree, options.gitDir);
    signal.throwIfAborted();
  } catch (error) {
    await machine.close();
    throw error;
  }
  return {
    run: async (command, { seconds, heard, signal: stop }) =>
      waitFor(machine.start(command, { heard }), { seconds, signal: stop }),
    start: (command, shownChars) => machine.start(command, { shownChars }),
    isListening: network.isListening,
    mount: (name, workTree, gitDir) => machine.mount(name, workTree, gitDir),
    endCommands: () => machine.endCommands(),
    close: () => machine.close(),
  };
}

interface MachineParts {
  place: MachinePlace;
  options: MachineOptions;
  system: System;
  network: Network;
  copies: GitCopies;
}

class OpenMachine {
  readonly #parts: MachineParts;
  readonly #trees: ShownTree[] = [];
  readonly #running = new Set<RunningCommand>();
  readonly #abort = () => void this.close();
  #closing: Promise<void> | undefined;

  constructor(parts: MachineParts) {
    this.#parts = parts;
    parts.place.signal.addEventListener('abort', this.#abort, { once: true });
  }

  async mount(name: string, workTree: string, gitDir: string): Promise<void> {
    this.#trees.push(await this.#parts.copies.show(name, workTree, gitDir));
  }

  start(command: string, how: { shownChars?: number | undefined; heard?: CommandOptions['heard'] }): RunningCommand {
    const { place, options, system, network } = this.#parts;
    place.signal.throwIfAborted();
    if (this.#closing !== undefined) throw new RunFailed('sandbox', 'the machine of the run has been closed');
    const lost = network.lost();
    if (lost !== undefined) throw lost;
    const { scratch, env = {} } = options;
    const layout = commandLayout({ system, trees: this.#trees, scratch, network: network.holder, env });
    const running = startCommand(place.parts, layout, { shell: system.shell, command, ...how });
    this.#running.add(running);
    // Its sandbox may still hold processes that it left behind.
    void running.ended.then(running.end).then((isGone) => isGone && this.#running.delete(running));
    return running;
  }

  async endCommands(): Promise<void> {
    const areGone = await Promise.all([...this.#running].map((command) => command.end()));
    if (areGone.includes(false))
      throw new RunFailed('sandbox', 'a process of the run could not be ended, so its files could not be read');
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { place, network, copies } = this.#parts;
    place.signal.removeEventListener('abort', this.#abort);
    await Promise.all([...this.#running].map((command) => command.end()));
    await network.close();
    await copies.remove();
  }
}

/** What git reads about a repository besides its objects. The service's configuration and hooks stay where they are. */
const copied = ['HEAD', 'index', 'packed-refs', 'shallow', 'info/attributes', 'info/exclude'];
const copiedFolders = ['refs/heads', 'refs/remotes'];

/**
 * Files may belong to another user than when the index was written, so git compares only their size and time. Commits
 * need a name and an email address.
 */
const config = `[core]
\trepositoryformatversion = 0
\tbare = false
\tcheckStat = minimal
\ttrustctime = false
[user]
\tname = agent
\temail = agent@localhost
[gc]
\tauto = 0
[advice]
\tdetachedHead = false
`;

/** Git folders for the commands of one machine. They may do anything there, because the service never reads them. */
interface GitCopies {
  /** Creates a copy of a git folder, and returns the workspace with it as commands see it at `/<name>`. */
  show(name: string, workTree: string, gitDir: string): Promise<ShownTree>;
  remove(): Promise<void>;
}

function gitCopies(
  who: SandboxParts['who'],
  counted: { add(folder: string): void; delete(folder: string): void },
): GitCopies {
  const made: string[] = [];
  return {
    show: async (name, workTree, gitDir) => {
      const git = await mkdtemp(`${workTree}.git-`);
      made.push(git);
      counted.add(git);
      // The objects are not copied. Git finds them where the service's own are mounted read-only.
      const objects = { at: `/opt/git/${name}`, folder: join(gitDir, 'objects') };
      await copyGit(gitDir, git, objects.at);
      if (who.uid !== undefined) await promisify(execFile)('chown', ['-hR', `${who.uid}:${who.gid}`, git]);
      return { at: `/${name}`, workTree, git, objects };
    },
    remove: async () => {
      for (const folder of made.splice(0)) {
        counted.delete(folder);
        // What cannot be removed now is deleted with the workspace's folder, and a failure is reported there.
        await removeTree(folder).catch(() => {});
      }
    },
  };
}

async function copyGit(gitDir: string, copy: string, objects: string): Promise<void> {
  for (const folder of ['info', 'objects/info', 'refs/heads', 'refs/tags'])
    await mkdir(join(copy, folder), { recursive: true });
  await writeFile(join(copy, 'HEAD'), 'ref: refs/heads/main\n');
  // A repository without a commit has only some of these.
  for (const name of copied) await unlessMissing(copyFile(join(gitDir, name), join(copy, name)));
  for (const name of copiedFolders) await unlessMissing(cp(join(gitDir, name), join(copy, name), { recursive: true }));
  await writeFile(join(copy, 'config'), config);
  await writeFile(join(copy, 'objects/info/alternates'), `${objects}\n`);
}

async function unlessMissing(copying: Promise<void>): Promise<void> {
  await copying.catch((error) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** `heard` gets at most this many characters of the output. */
const maxHeard = 256_000;

interface ShellCommand {
  /** The program that runs the command, which is a script. */
  shell: string[];
  command: string;
  shownChars?: number | undefined;
  heard?: CommandOptions['heard'];
}

/**
 * Starts a command in a new sandbox. No command can reach the tool host or another command. Starting a sandbox takes
 * about 15 ms.
 */
function startCommand(
  parts: SandboxParts,
  layout: SandboxLayout,
  { shell, command, shownChars, heard }: ShellCommand,
): RunningCommand {
  const began = performance.now();
  let endedAt: number | undefined;
  const files = { ...layout.files, [scriptPath]: command };
  const { child, end } = startSandboxed(parts, { ...layout, files }, [...shell, scriptPath]);
  const output = cappedOutput(shownChars);
  const hear = heard === undefined ? undefined : hearing(heard);
  const events = new EventEmitter();
  readPaced([child.stdout, child.stderr], (chunk) => {
    output.add(chunk);
    hear?.(chunk);
    events.emit('news');
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end();
  const ended = new Promise<{ how: string; exitCode?: number }>((resolve) => {
    child.once('error', (error) => resolve({ how: `not started: ${error.message}` }));
    // `close` follows the last output. Calling `end` is necessary when a background process keeps the pipes open.
    child.once('close', (code, by) => {
      endedAt = performance.now();
      resolve(by === null && code !== null ? { how: `exit code ${code}`, exitCode: code } : { how: `ended by ${by}` });
    });
  });
  const news = () => Promise.race([ended, once(events, 'news')]).then(() => {});
  return { ended, output: output.text, news, end, seconds: () => ((endedAt ?? performance.now()) - began) / 1000 };
}

/** Passes on the beginning of an output as text. */
function hearing(heard: (text: string) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  let left = maxHeard;
  return (chunk) => {
    if (left <= 0) return;
    const text = decoder.write(chunk);
    if (text !== '')
      heard(text.length < left ? text : `${text.slice(0, left)}\n[… further output is not shown here]\n`);
    left -= text.length;
  };
}

/** Waits for a command, at most `seconds`. Its sandbox ends with it, so no background process outlives it. */
async function waitFor(
  running: RunningCommand,
  { seconds, signal }: Pick<CommandOptions, 'seconds' | 'signal'>,
): Promise<CommandEnd> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void running.end();
  }, seconds * 1000);
  const abort = () => void running.end();
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  const end = await running.ended;
  clearTimeout(timer);
  signal?.removeEventListener('abort', abort);
  await running.end();
  const ending = isLate ? { how: `stopped after ${seconds} s` } : end;
  return { ...ending, seconds: running.seconds(), output: running.output() };
}
