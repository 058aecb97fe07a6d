import type { RepositoryRow } from '../db/tables/project.ts';
import type { RunRow } from '../db/tables/run.ts';
import type { Checkout } from '../git/engine.ts';
import type { GitHubUser } from '../projects/store.ts';
import type { Credential } from '../repositories/credentials.ts';
import type { Customs } from '../repositories/customs/customs.ts';
import type { TaskView } from '../tasks/store.ts';

/** What a conversation knows of the run that it belongs to, and may ask of it. */
export interface AboutRun {
  run: RunRow;
  task: TaskView;
  repository: RepositoryRow;
  credential: Credential;
  checkout: Checkout;
  /** The commit of the base branch whose instructions and skills apply. */
  baseHead: string;
  environment: { told: string };
  customs: Customs;
  /** The live credentials that must not leave the service. Grows when the conversation uses another one. */
  secrets: string[];
  journal: {
    once<T extends object>(name: string, make: () => Promise<T>): Promise<T>;
    note(type: string, text: string, data?: object): Promise<void>;
  };
  /** Records that the run has the content of another repository. Returns why it may not. */
  enter(other: RepositoryRow): Promise<Error | undefined>;
  /** Makes people directors of the run. Returns the ids on GitHub of those who are directors now. */
  admit(people: GitHubUser[]): Promise<Set<number>>;
  /** Returns why a value must not be sent to another server, worded to follow its name. */
  objectionToSending(value: unknown): string | undefined;
}
