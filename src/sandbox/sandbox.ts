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
  /** Ends the tools and every process they started. */
  close(): Promise<void>;
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
  /** Releases the user and the limits. Call it after closing the tools. Never throws. */
  close(): Promise<void>;
}

/** The environment of the model's tools. Without bubblewrap there are only file tools. */
export interface Sandbox {
  state: SandboxState;
  /** Prepares the tools of one run. @throws RunFailed `sandbox` when the limits of a run cannot be set */
  confine(signal: AbortSignal): Promise<Confinement>;
}
