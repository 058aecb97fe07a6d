/** A tool's answer to the model. With `ok: false` the text says what went wrong. */
export interface ToolAnswer {
  ok: boolean;
  text: string;
  /** Set when a command ended without being killed. */
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
  /** @throws RunFailed `sandbox` when the host is gone */
  call(tool: string, args: object): Promise<ToolAnswer>;
  restore(files: RestoredFile[]): Promise<void>;
  /** Shows commands another workspace at `../<name>`, unless the name is that of a system folder such as `usr`. */
  mount(name: string, workTree: string, gitDir: string): void;
  /** Ends the tools and everything they started. */
  close(): Promise<void>;
}

export interface SandboxState {
  /** Whether agents have `run_command`. */
  works: boolean;
  /** How it works or why it does not, in one sentence for the log at start and for `doctor`. */
  says: string;
}

/** What all processes and files of a run may use together. */
export interface RunLimits {
  memoryMb: number;
  diskMb: number;
  /** Each thread counts as one. */
  processes: number;
}

/** What the tools of one run share: a user, the limits, and the signal that ends them. */
export interface Confinement {
  /** Aborted with the signal that was given, or with `RunFailed` when the run exceeds a limit. */
  signal: AbortSignal;
  /** Makes the user of the tools the owner of a workspace. */
  own(workTree: string): Promise<void>;
  /** Starts the tools of a work tree, which may still be empty; `signal` ends them. */
  open(workTree: string, gitDir: string): Promise<ToolHost>;
  /** Releases the user and the limits, after the tools have been closed. Never throws. */
  close(): Promise<void>;
}

/** Where the model's tools run. Without bubblewrap there are only file tools. */
export interface Sandbox {
  state: SandboxState;
  /** @throws RunFailed `sandbox` when the limits of a run cannot be set */
  confine(signal: AbortSignal): Promise<Confinement>;
}
