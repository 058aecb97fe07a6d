import type { RunFailed } from '../domain/run.ts';

/** The result of a tool for the model. With `ok: false` the text is an error message. */
export interface ToolAnswer {
  ok: boolean;
  text: string;
  /** Set when a command ended without being killed by a signal. */
  exitCode?: number;
}

export interface RestoredFile {
  path: string;
  mode: string;
  /** In base64; null when the file was deleted. */
  content: string | null;
}

/** The file and shell tools of one run. */
export interface ToolHost {
  hasShell: boolean;
  /** Calls a tool. @throws RunFailed `sandbox` when the tool host has ended */
  call(tool: string, args: object): Promise<ToolAnswer>;
  restore(files: RestoredFile[]): Promise<void>;
  /**
   * Makes another workspace visible to commands at `../<name>`, unless the name is that of a system folder such as
   * `usr`.
   */
  mount(name: string, workTree: string, gitDir: string): void;
  /** Sets what commands find on their machine. Call it before the first command. */
  configure(settings: MachineSettings): void;
  /** Opens the machine of its commands, if that is not open yet. @throws RunFailed `sandbox` without a working sandbox */
  machine(): Promise<Machine>;
  /**
   * Ends every process that commands left behind, services included, so that nothing changes the files any more. Returns
   * the names of the background processes that were running. @throws RunFailed `sandbox` when a process may still run
   */
  endProcesses(): Promise<string[]>;
  /** Ends the tools and every process they started. */
  close(): Promise<void>;
}

/** The unpacked root of an image. */
export interface ImageRoot {
  /** The folder of the root, which runs only read. */
  root: string;
  /** The variables that the image sets, such as PATH. */
  env: Record<string, string>;
  workDir?: string | undefined;
}

/** What the commands of a machine find there. */
export interface MachineSettings {
  /** The socket of the egress proxy. Without it, commands have no network but localhost. */
  egressSocket?: string | undefined;
  /** Further variables of commands. */
  env?: Record<string, string> | undefined;
  /** The system that commands run on; without it, the worker's own. */
  root?: ImageRoot | undefined;
  /** Called when a command of a tool has ended; returns lines to add to its answer, such as refused hosts. */
  afterCommand?: (() => string | undefined) | undefined;
}

export interface MachineOptions extends Omit<MachineSettings, 'afterCommand'> {
  workTree: string;
  gitDir: string;
  /** The folders that commands see as /tmp and home. They are created if they do not exist, and stay. */
  scratch: { tmp: string; home: string };
}

/** Where commands run: they share files, a home, variables and localhost. Each has a sandbox of its own. */
export interface Machine {
  /** Runs a command and waits for it. It is killed after `seconds`, or when the signal aborts. */
  run(command: string, options: CommandOptions): Promise<CommandEnd>;
  /**
   * Starts a command that runs until it ends or the machine is closed. Its output keeps `shownChars` characters from
   * the start and from the end. @throws RunFailed `sandbox` when the machine has ended
   */
  start(command: string, shownChars?: number): RunningCommand;
  /** Whether a command listens on a TCP port. */
  isListening(port: number): boolean;
  /** Makes another workspace visible to later commands at `/<name>`. */
  mount(name: string, workTree: string, gitDir: string): Promise<void>;
  /** Ends all commands. Others can be started afterwards. @throws RunFailed `sandbox` when a process may still run */
  endCommands(): Promise<void>;
  /** Ends all processes. */
  close(): Promise<void>;
}

export interface CommandOptions {
  seconds: number;
  /** Called with the output while the command runs, at most with its first 256,000 characters. */
  heard?: ((text: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export interface CommandEnd {
  /** Missing when a signal killed the command. */
  exitCode?: number;
  /** How it ended, such as `exit code 0`. */
  how: string;
  seconds: number;
  /** The start and the end of its output. */
  output: string;
}

/** A command that runs in a sandbox of its own. */
export interface RunningCommand {
  /** Resolves when the command has ended, with its exit code if it was not killed by a signal. */
  ended: Promise<{ how: string; exitCode?: number }>;
  /** The start and the end of its output so far. */
  output(): string;
  /** Resolves when it writes something or ends. */
  news(): Promise<void>;
  seconds(): number;
  /** Kills the command with everything that it started. Resolves with false if something may still run. */
  end(): Promise<boolean>;
}

export interface SandboxState {
  /** Whether agents have `run_command`. */
  works: boolean;
  /** How the sandbox works or why it does not, in one sentence for the startup log and for `doctor`. */
  says: string;
}

/** Limits on all processes and files of a run together. */
export interface RunLimits {
  memoryMb: number;
  diskMb: number;
  /** Each thread counts as one. */
  processes: number;
}

/** What the tools of one run share: a user, the limits, and the signal that ends them. */
export interface Confinement {
  /** Aborted by the signal passed to `confine`, or with `RunFailed` when the run exceeds a limit. */
  signal: AbortSignal;
  /** Changes the owner of a workspace to the user of the tools. */
  own(workTree: string): Promise<void>;
  /** Starts the tools of a work tree, which may still be empty; `signal` ends them. */
  open(workTree: string, gitDir: string): Promise<ToolHost>;
  /** Opens a machine without tools, for commands of the service. @throws RunFailed `sandbox` */
  machine(options: MachineOptions): Promise<Machine>;
  /** Releases the user and the limits. Call it after closing the tools. Never throws. */
  close(): Promise<void>;
}

/** Where the tools of agents run. Without bubblewrap there are only file tools. */
export interface Sandbox {
  state: SandboxState;
  /** Prepares the tools of one run. @throws RunFailed `sandbox` when the limits of a run cannot be set */
  confine(signal: AbortSignal): Promise<Confinement>;
}

/** The facts about a run that the watchdog needs. */
export interface WatchedRun {
  limits: RunLimits;
  /** The pids, as the host sees them, of the first process of each sandbox. */
  sandboxes: Set<number>;
  /** Every folder that the run can write to. All are on one disk. */
  folders: Set<string>;
  /** Returns the limit that the kernel reports as exceeded; only for a run with a cgroup. */
  exceeded?: (() => Promise<Exceeded | undefined>) | undefined;
  end(why: RunFailed): void;
}

export type Exceeded = 'memory' | 'processes';
