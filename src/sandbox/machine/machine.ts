import { RunFailed } from '../../domain/run.ts';
import { commandLayout, type SandboxParts, type ShownTree } from '../layout.ts';
import type { CommandOptions, Machine, MachineOptions, RunningCommand } from '../sandbox.ts';
import { startCommand, waitFor } from '../shell.ts';
import { type GitCopies, gitCopies } from './git-copy.ts';
import { imageSystem } from './image-system.ts';
import { type Network, openNetwork } from './network.ts';
import { hostSystem, type System } from './system.ts';

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
