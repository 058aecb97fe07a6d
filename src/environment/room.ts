import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import type { Checkout } from '../git/engine.ts';
import type { RepositorySettings } from '../repositories/settings/repository-settings.ts';
import type { HeldImage } from './image.ts';

/** What the preparation of an environment works with. */
export interface Room {
  app: App;
  repository: RepositoryRow;
  checkout: Checkout;
  /** The .deckhand.yml of the base branch. */
  settings: RepositorySettings;
  /** The system that commands run on; undefined for the worker's own. */
  image?: HeldImage | undefined;
  /** Whether output of commands is for members only, because the repository has environment secrets. */
  isOutputHidden?: boolean;
  /** Aborts the preparation. */
  signal: AbortSignal;
  /** Adds a line to the log that people read. */
  note(type: string, text: string, data?: object): Promise<void>;
  /** Called while commands run, with their results so far. */
  onCommands?: ((commands: CommandResult[]) => void) | undefined;
}

/** A command that prepared or checked a repository. */
export interface CommandResult {
  command: string;
  /** Null while it runs, and when it was killed. */
  exitCode: number | null;
  seconds: number;
  /** The end of its output, without secrets. */
  output: string;
}
