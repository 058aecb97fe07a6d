/** What a tool answered; `ok: false` carries the reason for the model. */
export interface ToolAnswer {
  ok: boolean;
  text: string;
  /** Of a command that ended by itself. */
  exitCode?: number;
}

export interface RestoredFile {
  path: string;
  mode: string;
  /** base64; null when the file is gone. */
  content: string | null;
}

/** The file and shell tools of one run, behind the wall. */
export interface ToolHost {
  hasShell: boolean;
  /** @throws RunFailed `sandbox` when the host is gone */
  call(tool: string, args: object): Promise<ToolAnswer>;
  restore(files: RestoredFile[]): Promise<void>;
  /** Lets commands see another workspace at `../<name>`; one whose name is that of a folder of the system stays unseen. */
  mount(name: string, workTree: string, gitDir: string): void;
  /** Ends the host and everything that was started in it. */
  close(): Promise<void>;
}

export interface SandboxState {
  /** Whether `run_command` is there. */
  works: boolean;
  /** Why not, or with what; one sentence for the start and for `doctor`. */
  says: string;
}

/** What all processes and files of a run may take together. */
export interface RunLimits {
  memoryMb: number;
  diskMb: number;
  /** Threads count too. */
  processes: number;
}

/** The tools of one run: they share a user, the limits and an end. */
export interface Confinement {
  /** Aborted with what was given, or with `RunFailed` when the run exceeds a limit. */
  signal: AbortSignal;
  /** Gives the files of a workspace to the user that the tools have. */
  own(workTree: string): Promise<void>;
  /** Starts the tools of a work tree, which may still be empty; `signal` ends them. */
  open(workTree: string, gitDir: string): Promise<ToolHost>;
  /** Gives up the user and the limits, after the tools were closed. Never throws. */
  close(): Promise<void>;
}

/** Where the model's tools run. Without bubblewrap only the file tools exist. */
export interface Sandbox {
  state: SandboxState;
  /** @throws RunFailed `sandbox` when the limits of a run cannot be set */
  confine(signal: AbortSignal): Promise<Confinement>;
}
