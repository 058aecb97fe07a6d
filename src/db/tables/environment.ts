import { json, key, madeNow, maybeText, maybeTime, table, text, whole } from './table.ts';

/** A secret that set-up gets as a variable. */
export interface EnvironmentSecretRow {
  projectId: string;
  name: string;
  keyId: string;
  ciphertext: Buffer;
  /** Changes with every value. */
  version: string;
  /** The registries that may get it as a credential for an image. */
  hosts: string[];
  createdAt: Date;
}
export const EnvironmentSecrets = table<EnvironmentSecretRow>('environment_secrets', {
  projectId: key(),
  name: key(),
  keyId: text(),
  ciphertext: { type: 'bytea' },
  version: text(),
  hosts: json({ default: [] }),
  createdAt: madeNow(),
});

/** A repository whose set-up and image may use a secret. */
interface SecretRepositoryRow {
  projectId: string;
  name: string;
  repositoryId: string;
}
export const SecretRepositories = table<SecretRepositoryRow>('environment_secret_repositories', {
  projectId: key(),
  name: key(),
  repositoryId: key(),
});

/**
 * A command of a trial. `exitCode` is null while it runs, and when it was killed. Checks follow the commands of set-up.
 */
export interface TrialCommand {
  command: string;
  exitCode: number | null;
  seconds: number;
  output: string;
  isCheck?: boolean | undefined;
  /** A usual check that .deckhand.yml does not list. Its result decides nothing. */
  isTried?: boolean | undefined;
}

/** What a trial found that .deckhand.yml does not say. */
export interface TrialFindings {
  /** What the repository has that runs get only with this key of `checkout`. */
  checkout: ('submodules' | 'lfs')[];
  /** Services that commands needed, as .deckhand.yml may list them. */
  services: { run: string; port: number }[];
  /** Side folders in which no usual check was found. */
  unchecked: string[];
  /** The .deckhand.yml with what was found; null where nothing is to be added. */
  draft: string | null;
}

export const noFindings: TrialFindings = { checkout: [], services: [], unchecked: [], draft: null };

/** A trial of set-up and checks on the default branch, without an agent. */
export interface EnvironmentTrialRow {
  id: string;
  repositoryId: string;
  status: 'running' | 'ready' | 'failed';
  startedAt: Date;
  /** When a worker began; null while the trial waits for one. */
  beganAt: Date | null;
  finishedAt: Date | null;
  image: string | null;
  /** Why the trial failed, where no command says it. */
  problem: string | null;
  commands: TrialCommand[];
  refusedHosts: { host: string; times: number }[];
  /** The commands of set-up that did not run, because their program is not installed. */
  missing: { program: string; command: string }[];
  /** Files in the root that name packages, and for which there is no command. */
  unknown: string[];
  found: TrialFindings;
  issueNumber: number | null;
  seenAt: Date;
}
export const EnvironmentTrials = table<EnvironmentTrialRow>('environment_trials', {
  id: key(),
  repositoryId: text(),
  status: text(),
  startedAt: madeNow(),
  beganAt: maybeTime(),
  finishedAt: maybeTime(),
  image: maybeText(),
  problem: maybeText(),
  commands: json({ default: [] }),
  refusedHosts: json({ default: [] }),
  missing: json({ default: [] }),
  unknown: json({ default: [] }),
  // Rows of earlier versions have only the keys of `checkout`, as a list.
  found: json({
    name: 'checkout',
    default: [],
    transformer: {
      to: (found: TrialFindings) => found,
      from: (found: TrialFindings | TrialFindings['checkout']) =>
        Array.isArray(found) ? { ...noFindings, checkout: found } : found,
    },
  }),
  issueNumber: whole({ nullable: true }),
  seenAt: madeNow(),
});
