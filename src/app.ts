import type { Logger } from 'pino';
import type { ProbotOctokit } from 'probot';
import type { Config, GitHubAppConfig } from './config.ts';
import type { Database } from './db/database.ts';
import type { SecretBox } from './db/secret-box.ts';
import type { GitEngine } from './git/engine.ts';
import type { Metrics } from './http/metrics.ts';
import type { ModelSource } from './llm/model.ts';
import type { Queue } from './queue/queue.ts';
import type { Sandbox } from './sandbox/sandbox.ts';

export type Octokit = InstanceType<typeof ProbotOctokit>;

/** What a run or a check needs of one repository; GitHub's permission names. */
export type TokenPermissions = Partial<Record<'contents' | 'metadata' | 'pull_requests', 'read' | 'write'>>;

export interface GitHubAccount {
  id: number;
  login: string;
  name: string | null;
  avatar_url: string;
}

/** The GitHub App as the service knows it. Writes through its clients keep the pace GitHub asks for. */
export interface GitHub {
  /** Speaks as the App itself. */
  asApp(): Promise<Octokit>;
  /** Speaks as an installation. */
  asInstallation(installationId: number): Promise<Octokit>;
  /**
   * A fresh installation token for one repository and nothing more; GitHub lets it end after an hour. By number where it
   * is known: another repository that took over the name is not opened.
   */
  mintToken(
    installationId: number,
    repository: { githubId: number | null; repo: string },
    permissions: TokenPermissions,
  ): Promise<{ token: string; endsAt: Date }>;
  /** Hands a stored webhook delivery to its handlers. @throws when one of them fails */
  receive(delivery: { id: string; name: string; payload: unknown }): Promise<void>;
  /** The account of a login; undefined when GitHub knows none. */
  findUser(login: string): Promise<GitHubAccount | undefined>;
  /** The App's bot user, whose name stands on commits and comments. */
  bot(): Promise<{ login: string; id: number }>;
  /** The App's page on GitHub. */
  slug(): Promise<string>;
}

/** What an operation may use. Built in compose.ts only. */
export interface App {
  config: Config;
  keys: { jwtSecret: string };
  /** The service's own credentials, which must not leave the house by any run. */
  ownSecrets: () => string[];
  log: Logger;
  db: Database;
  queue: Queue;
  secrets: SecretBox;
  git: GitEngine;
  sandbox: Sandbox;
  models: ModelSource;
  /** Undefined while no App is configured. */
  github: GitHub | undefined;
  /** What the App was connected with: the settings, or what the setup page stored. */
  githubApp: GitHubAppConfig | undefined;
  /** Connects the App from now on, without a restart. */
  connectGitHub(credentials: GitHubAppConfig): void;
  /** Speaks to GitHub's API with a token of a project's own. */
  githubWithToken(token: string): Octokit;
  metrics: Metrics;
  /** Where the workspaces of runs lie; reachable for the uid of the tools. */
  workDir: string;
  /** Aborted when the process is told to stop. */
  stopping: AbortSignal;
}
