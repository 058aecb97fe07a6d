import { setTimeout as sleep } from 'node:timers/promises';
import { RunFailed } from '../../domain/run.ts';
import { commandLayout, type ShownTree } from '../layout.ts';
import type { CommandOptions, Machine, MachineOptions, RunningCommand } from '../sandbox.ts';
import { startCommand, waitFor } from '../shell.ts';
import { type GitCopies, gitCopies } from './git-copy.ts';
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
