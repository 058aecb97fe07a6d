import type { ProjectBudgets } from '../domain/budget.ts';
import type { Role } from '../domain/member.ts';
import type { Failure, RunKind, RunStatus } from '../domain/run.ts';
import type { TaskStatus } from '../domain/task.ts';
import { big, flag, json, key, madeNow, maybeText, maybeTime, table, text, time, whole } from './table.ts';

export interface UserRow {
  id: string;
  githubId: number | null;
  login: string;
  name: string;
  avatarUrl: string;
  createdAt: Date;
  updatedAt: Date;
}
export const Users = table<UserRow>('users', {
  id: key(),
  githubId: big({ nullable: true }),
  login: text(),
  name: text({ default: '' }),
  avatarUrl: text({ default: '' }),
  createdAt: madeNow(),
  updatedAt: madeNow(),
});

export interface ApiTokenRow {
  id: string;
  userId: string;
  name: string;
  prefix: string;
  createdAt: Date;
  expiresAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}
export const ApiTokens = table<ApiTokenRow>('api_tokens', {
  id: key(),
  userId: text(),
  name: text(),
  prefix: text(),
  createdAt: madeNow(),
  expiresAt: time(),
  lastUsedAt: maybeTime(),
  revokedAt: maybeTime(),
});

export interface ProjectRow {
  id: string;
  name: string;
  slug: string;
  description: string;
  budgets: Partial<ProjectBudgets>;
  sharePrivateContext: boolean;
  createdAt: Date;
  updatedAt: Date;
}
export const Projects = table<ProjectRow>('projects', {
  id: key(),
  name: text(),
  slug: text(),
  description: text({ default: '' }),
  budgets: json({ default: {} }),
  sharePrivateContext: flag(false),
  createdAt: madeNow(),
  updatedAt: madeNow(),
});

export interface MemberRow {
  projectId: string;
  userId: string;
  role: Role;
  createdAt: Date;
}
export const Members = table<MemberRow>('members', {
  projectId: key(),
  userId: key(),
  role: text(),
  createdAt: madeNow(),
});

export type SecretKind = 'git_token' | 'model_token';
export interface ProjectSecretRow {
  projectId: string;
  kind: SecretKind;
  keyId: string;
  ciphertext: Buffer;
  updatedAt: Date;
}
export const ProjectSecrets = table<ProjectSecretRow>('project_secrets', {
  projectId: key(),
  kind: key(),
  keyId: text(),
  ciphertext: { type: 'bytea' },
  updatedAt: madeNow(),
});

export type InstallationStatus = 'active' | 'suspended' | 'deleted' | 'ignored';
export interface InstallationRow {
  accountId: number;
  installationId: number;
  accountLogin: string;
  accountType: 'User' | 'Organization';
  projectId: string | null;
  status: InstallationStatus;
  updatedAt: Date;
}
export const Installations = table<InstallationRow>('installations', {
  accountId: big({ primary: true }),
  installationId: big(),
  accountLogin: text(),
  accountType: text(),
  projectId: maybeText(),
  status: text(),
  updatedAt: madeNow(),
});

export interface RepositoryRow {
  id: string;
  projectId: string;
  name: string;
  url: string;
  defaultBranch: string;
  isPrimary: boolean;
  isDocsRepo: boolean;
  isPrivate: boolean;
  isInstalled: boolean;
  githubId: number | null;
  connectedBy: string | null;
  createdAt: Date;
}
export const Repositories = table<RepositoryRow>('repositories', {
  id: key(),
  projectId: text(),
  name: text(),
  url: text(),
  defaultBranch: text({ default: 'main' }),
  isPrimary: flag(false),
  isDocsRepo: flag(false),
  isPrivate: flag(true),
  isInstalled: flag(false),
  githubId: big({ nullable: true }),
  connectedBy: maybeText(),
  createdAt: madeNow(),
});

export interface AgentRow {
  id: string;
  projectId: string | null;
  creatorId: string | null;
  name: string;
  description: string;
  team: string;
  model: string;
  systemPrompt: string;
  createdAt: Date;
}
export const Agents = table<AgentRow>('agents', {
  id: key(),
  projectId: maybeText(),
  creatorId: maybeText(),
  name: text(),
  description: text({ default: '' }),
  team: text({ default: '' }),
  model: text({ default: '' }),
  systemPrompt: text({ default: '' }),
  createdAt: madeNow(),
});

export interface TaskRow {
  id: string;
  projectId: string;
  title: string;
  description: string;
  status: TaskStatus;
  owner: string | null;
  repositoryId: string | null;
  parentId: string | null;
  branchName: string | null;
  issueRepositoryId: string | null;
  issueNumber: number | null;
  issueUrl: string | null;
  failure: Failure | null;
  createdBy: string | null;
  createdAt: Date;
  updatedAt: Date;
}
export const Tasks = table<TaskRow>('tasks', {
  id: key(),
  projectId: text(),
  title: text(),
  description: text({ default: '' }),
  status: text(),
  owner: maybeText(),
  repositoryId: maybeText(),
  parentId: maybeText(),
  branchName: maybeText(),
  issueRepositoryId: maybeText(),
  issueNumber: whole({ nullable: true }),
  issueUrl: maybeText(),
  failure: json({ nullable: true }),
  createdBy: maybeText(),
  createdAt: madeNow(),
  updatedAt: madeNow(),
});

export interface RunRow {
  id: string;
  taskId: string;
  projectId: string;
  agentId: string | null;
  startedBy: string | null;
  kind: RunKind;
  status: RunStatus;
  instructions: string;
  failure: Failure | null;
  steps: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number | null;
  fence: number;
  leaseUntil: Date | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
}
export const Runs = table<RunRow>('runs', {
  id: key(),
  taskId: text(),
  projectId: text(),
  agentId: maybeText(),
  startedBy: maybeText(),
  kind: text(),
  status: text(),
  instructions: text({ default: '' }),
  failure: json({ nullable: true }),
  steps: whole({ default: 0 }),
  inputTokens: big({ default: 0 }),
  outputTokens: big({ default: 0 }),
  costUsd: big({ type: 'numeric', nullable: true }),
  fence: whole({ default: 0 }),
  leaseUntil: maybeTime(),
  createdAt: madeNow(),
  startedAt: maybeTime(),
  finishedAt: maybeTime(),
});

export interface HandoffRow {
  id: string;
  taskId: string;
  runId: string;
  summary: string;
  nextSteps: string[];
  createdAt: Date;
}
export const Handoffs = table<HandoffRow>('handoffs', {
  id: key(),
  taskId: text(),
  runId: text(),
  summary: text(),
  nextSteps: json({ default: [] }),
  createdAt: madeNow(),
});

export type PullStatus = 'draft' | 'open' | 'merged' | 'closed';
export interface PullRequestRow {
  taskId: string;
  repositoryId: string;
  number: number;
  url: string;
  status: PullStatus;
  headBranch: string;
  headSha: string;
  additions: number;
  counts: boolean;
  createdAt: Date;
  mergedAt: Date | null;
}
export const PullRequests = table<PullRequestRow>('pull_requests', {
  taskId: text(),
  repositoryId: key(),
  number: whole({ primary: true }),
  url: text(),
  status: text(),
  headBranch: text(),
  headSha: text(),
  additions: whole({ default: 0 }),
  counts: flag(true),
  createdAt: madeNow(),
  mergedAt: maybeTime(),
});

/** The tables that are read and written as rows; the others are spoken to in SQL by their one store. */
export const tables = [
  Users,
  ApiTokens,
  Projects,
  Members,
  ProjectSecrets,
  Installations,
  Repositories,
  Agents,
  Tasks,
  Runs,
  Handoffs,
  PullRequests,
];
