import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { RunFailed } from '../domain/run.ts';
import type { Checkout } from '../git/engine.ts';
import type { ImageRoot } from '../images/images.ts';
import type { Credentials } from '../images/registry/authorize.ts';
import type { RepositorySettings } from '../repositories/settings/schema.ts';
import type { Readers } from './files/private-submodules.ts';
import type { OpenSecret } from './secrets/secrets.ts';

/** What the preparation of an environment works with. */
export interface SetupContext {
  app: App;
  repository: RepositoryRow;
  checkout: Checkout;
  /** The .deckhand.yml of the default branch. */
  settings: RepositorySettings;
  /** For whom private submodules are fetched, and what was fetched. */
  readers?: Readers | undefined;
  /** The system that commands run on; undefined for the worker's own. */
  image?: HeldImage | undefined;
  /** Whether output of commands is for members only, because the repository has environment secrets. */
  isOutputHidden?: boolean;
  /** Aborts the preparation. */
  signal: AbortSignal;
  /** Adds a line to the log that people read. */
  note(type: string, text: string, data?: object): Promise<void>;
  /** The hosts to which commands have connected so far; undefined if the log need not name them. */
  reached?: Set<string>;
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

/** A command of set-up that did not run because its program is not installed where commands run. */
export interface MissingProgram {
  program: string;
  command: string;
}

/** Says what to do about missing programs, a sentence for each. */
export function sayMissing(missing: MissingProgram[]): string {
  return missing
    .map(({ program, command }) => {
      const pinned = ['pnpm', 'yarn'].includes(program)
        ? ', or pin it with packageManager in package.json where Corepack is installed'
        : '';
      return `${program} is not installed where commands run, so "${command.slice(0, 200)}" did not run. Install it on the workers, or name an image that has it with image in .deckhand.yml${pinned}.`;
    })
    .join('\n');
}

/** Says which programs the files of a repository ask for, where .deckhand.yml lists a set-up without them. */
export function sayUnlisted(missing: MissingProgram[]): string {
  return missing
    .map(
      ({ program, command }) =>
        `${program} is not installed where commands run, and the files of the repository ask for "${command.slice(0, 200)}", which setup in .deckhand.yml does not list. If that is needed, install ${program} on the workers, or name an image that has it with image in .deckhand.yml.`,
    )
    .join('\n');
}

/** An image that stays on this machine until it is released. */
export type HeldImage = ImageRoot & { release(): void };

/** Takes the image that .deckhand.yml names. Returns undefined when it names none. @throws RunFailed `setup` */
export async function takeImage(
  { app, settings, signal, note }: SetupContext,
  secrets: OpenSecret[],
): Promise<HeldImage | undefined> {
  const { image, imageAuth } = settings;
  if (image === undefined || !app.sandbox.state.works) return undefined;
  const auth =
    imageAuth && credentialsOf(secretNamed(secrets, imageAuth.username), secretNamed(secrets, imageAuth.password));
  // What the pull says is for the log only. If this worker has lost the run, the signal says so.
  return app.images.take(image, auth, signal, (line) => void note('setup', line).catch(() => {}));
}

function credentialsOf(username: OpenSecret, password: OpenSecret): Credentials {
  return {
    version: `${username.version} ${password.version}`,
    openFor: (host) => {
      const lacking = [username, password].find(({ hosts }) => !hosts.includes(host));
      if (lacking === undefined) return { username: username.value, password: password.value };
      throw new RunFailed(
        'setup',
        `imageAuth names the secret ${lacking.name}, which must not be sent to ${host}; an admin of the project can add this host to the secret in the project's settings`,
      );
    },
  };
}

/** Returns a secret that .deckhand.yml names. @throws RunFailed `setup` when it does not belong to the repository */
export function secretNamed(secrets: OpenSecret[], name: string): OpenSecret {
  const secret = secrets.find((each) => each.name === name);
  if (secret !== undefined) return secret;
  throw new RunFailed(
    'setup',
    `.deckhand.yml names the secret ${name}, which does not belong to this repository; an admin of the project can assign or add it in the project's settings`,
  );
}
