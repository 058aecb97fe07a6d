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

/** Where the model's tools run. Without bubblewrap only the file tools exist. */
export interface Sandbox {
  state: SandboxState;
  /** Gives the files of a workspace to the uid that the tools run under. */
  own(workTree: string): Promise<void>;
  /** Starts the tools of a work tree, which may still be empty; `signal` ends them. */
  open(workTree: string, gitDir: string, signal: AbortSignal): Promise<ToolHost>;
}
