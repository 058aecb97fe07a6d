import type { Logger } from 'pino';
import type { ProbotOctokit } from 'probot';
import type { Audit } from './audit/audit.ts';
import type { Config, GitHubAppConfig } from './config.ts';
import type { Database } from './db/database.ts';
import type { SecretBox } from './db/sealed.ts';
import type { EgressDoor } from './egress/egress.ts';
import type { GitEngine } from './git/engine.ts';
import type { Metrics } from './http/metrics.ts';
import type { Images } from './images/images.ts';
import type { ModelSource } from './llm/model.ts';
import type { Mail } from './outgoing/mail.ts';
import type { Queue } from './queue/queue.ts';
import type { LiveRuns } from './runs/live-runs.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { Traces } from './tracing/traced.ts';

/** What the option `request` of a call may have beside Octokit's own. */
export interface PacedRequest {
  /**
   * Called when the call has its slot, right before it is sent. A write may wait for a minute, and what was checked before it may have
   * changed by then. An error that it throws is the call's.
   */
  rightBefore?: (() => Promise<void>) | undefined;
  /** Whether a write is sent before all that wait for their slots. Only for what GitHub would otherwise merge unseen, which is rare. */
  isAhead?: boolean;
}

export type Octokit = InstanceType<typeof ProbotOctokit>;

declare const anyClient: Octokit;

/** What GitHub answers to an operation, such as `GET /user`, by Octokit's types, which come from GitHub's description. */
export type Answered<Operation extends string> = Awaited<ReturnType<typeof anyClient.request<Operation>>>['data'];

/** Permissions on one repository, with GitHub's names. */
export type TokenPermissions = Partial<Record<'contents' | 'metadata' | 'pull_requests', 'read' | 'write'>>;

export interface GitHubAccount {
  id: number;
  login: string;
  name: string | null;
  avatar_url: string;
}

export interface SigningAbility {
  /** Why commits are not signed. */
  reason: string | undefined;
  at: number;
}

/** The GitHub App. Its clients limit their writes to the rate that GitHub asks for. */
export interface GitHub {
  /** Returns a client that authenticates as the App. */
  asApp(): Promise<Octokit>;
  /** Returns a client that authenticates as an installation. */
  asInstallation(installationId: number): Promise<Octokit>;
  /**
   * Creates an installation token for one repository, which expires after an hour. If the repository's id is known, the
   * token is bound to the id, so it gives no access to another repository that has taken over the name.
   */
  mintToken(
    installationId: number,
    repository: { githubId: number | null; repo: string },
    permissions: TokenPermissions,
  ): Promise<{ token: string; endsAt: Date }>;
  /** Passes a stored webhook delivery to its handlers. @throws if one of them fails */
  receive(delivery: { id: string; name: string; payload: unknown }): Promise<void>;
  /**
   * Returns the account of a login, or undefined when GitHub does not know it. Asks as one of the given installations, and without a
   * token if none is given, so that a project uses up the hour of no other account. If `installationIds` is left out, as for questions
   * of the service itself, any installation is asked.
   * @throws RateLimited
   */
  findUser(login: string, installationIds?: number[]): Promise<GitHubAccount | undefined>;
  /** Returns the App's bot user, the author of its commits and comments. */
  bot(): Promise<{ login: string; id: number }>;
  /** Whether GitHub signs the commits that it makes for an installation, by its number, as far as it was asked. */
  signing: Map<number, SigningAbility>;
  /** Who may not write to a repository that another project's installation covers, and until when GitHub is not asked again. */
  refused: Map<string, number>;
  /** Returns the App's slug, its name in addresses on GitHub. */
  slug(): Promise<string>;
}

/** Everything that operations may use. Only compose.ts builds it. */
export interface App {
  /** The version of the service. */
  version: string;
  config: Config;
  keys: { jwtSecret: string };
  /** Returns the service's own credentials, which no run may publish. */
  ownSecrets: () => string[];
  log: Logger;
  db: Database;
  audit: Audit;
  queue: Queue;
  liveRuns: LiveRuns;
  secrets: SecretBox;
  git: GitEngine;
  sandbox: Sandbox;
  egress: EgressDoor;
  images: Images;
  models: ModelSource;
  /** Undefined while no App is configured. */
  github: GitHub | undefined;
  /** The App's credentials, from the settings or from the setup page. */
  githubApp: GitHubAppConfig | undefined;
  /** Connects the App without a restart. */
  connectGitHub(credentials: GitHubAppConfig): void;
  /** Returns a client for GitHub's API that uses a project's own token. */
  githubWithToken(token: string): Octokit;
  /** Undefined while SMTP_URL is not set. */
  mail: Mail | undefined;
  metrics: Metrics;
  traces: Traces;
  /** The folder of the runs' workspaces, which the tools' user can enter. */
  workDir: string;
  /** The folder of the kept results of set-up, which only the service can read. */
  keptDir: string;
  /** Aborted when the process is asked to stop, before `stopping`: it still answers requests, but is no longer ready. */
  draining: AbortSignal;
  /** Aborted when the process stops. */
  stopping: AbortSignal;
}
