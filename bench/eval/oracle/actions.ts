/** What an oracle does in one call. A dialect turns it into a call of the tools that are offered. */
export type Action =
  | { do: 'list'; path?: string }
  | { do: 'search'; text: string; path?: string }
  | { do: 'read'; path: string; startLine?: number }
  | { do: 'edit'; path: string; old: string; new: string }
  | { do: 'write'; path: string; content: string }
  | { do: 'remove'; path: string }
  | { do: 'test'; command: string }
  | { do: 'finish' };

/** A call as it is sent: the name of a tool and its arguments, as JSON that may be broken on purpose. */
export interface Call {
  name: string;
  arguments: string;
}

/** The tools of a loop: how an action is written, and how the result of a call is read. */
export interface Dialect {
  write(action: Action): { name: string; arguments: Record<string, unknown> };
  /** Whether a call was refused, or its command failed. */
  failed(result: string): boolean;
  /** Whether the tests can be run. */
  hasShell: boolean;
}
