import { RunFailed } from '../../domain/run.ts';
import type { CommandOptions, Machine, MachineOptions, RunningCommand } from '../sandbox.ts';
import { startCommand, waitFor } from '../shell.ts';
import { commandWall, type ShownTree, type WallParts } from '../wall-arguments.ts';
import { type GitCopies, gitCopies } from './git-copy.ts';
import { type Network, openNetwork } from './network.ts';

/** What a machine needs from the confinement of its run. */
export interface MachinePlace {
  parts: WallParts;
  /** Ends the machine. */
  signal: AbortSignal;
  /** The folders whose files count for the run's limit on disk. */
  counted: { add(folder: string): void; delete(folder: string): void };
}

/** Opens a machine; see `Machine`. @throws RunFailed `sandbox` */
export async function openMachine(place: MachinePlace, options: MachineOptions): Promise<Machine> {
  const { parts, counted, signal } = place;
  const copies = gitCopies(parts.who, counted);
  const network = await openNetwork(parts, options.egressSocket);
  const machine = new OpenMachine(place, options, network, copies);
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
    mount: (name, workTree, gitDir) => machine.mount(name, workTree, gitDir),
    close: () => machine.close(),
  };
}

class OpenMachine {
  readonly #place: MachinePlace;
  readonly #options: MachineOptions;
  readonly #network: Network;
  readonly #copies: GitCopies;
  readonly #trees: ShownTree[] = [];
  readonly #running = new Set<RunningCommand>();
  readonly #abort = () => void this.close();
  #closing: Promise<void> | undefined;

  constructor(place: MachinePlace, options: MachineOptions, network: Network, copies: GitCopies) {
    this.#place = place;
    this.#options = options;
    this.#network = network;
    this.#copies = copies;
    place.signal.addEventListener('abort', this.#abort, { once: true });
  }

  async mount(name: string, workTree: string, gitDir: string): Promise<void> {
    this.#trees.push(await this.#copies.show(name, workTree, gitDir));
  }

  start(command: string, how: { shownChars?: number | undefined; heard?: CommandOptions['heard'] }): RunningCommand {
    this.#place.signal.throwIfAborted();
    if (this.#closing !== undefined) throw new RunFailed('sandbox', 'the machine of the run has been closed');
    const lost = this.#network.lost();
    if (lost !== undefined) throw lost;
    const { scratch, env = {} } = this.#options;
    const wall = commandWall(this.#place.parts, { trees: this.#trees, scratch, network: this.#network.holder, env });
    const running = startCommand(this.#place.parts, wall, command, how);
    this.#running.add(running);
    // Its sandbox may still hold processes that it left behind.
    void running.ended.then(running.end).then(() => this.#running.delete(running));
    return running;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#place.signal.removeEventListener('abort', this.#abort);
    await Promise.all([...this.#running].map((command) => command.end()));
    await this.#network.close();
    await this.#copies.remove();
  }
}
