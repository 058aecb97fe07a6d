import type { BuiltInAgent, Role, Scope } from '../../domain/agent.ts';
import type { ProjectBudgets } from '../../domain/budget.ts';
import type { PushMode, ReasoningEffort } from '../../domain/settings.ts';
import { big, flag, json, key, madeNow, maybeText, maybeTime, table, text, whole } from './table.ts';

export interface UserRow {
  id: string;
  githubId: number | null;
  login: string;
  name: string;
  avatarUrl: string;
  /** Until when the person may use the service without being a member of a project. */
  admittedUntil: Date | number | null;
  /** When GitHub was last asked whether the person is a member of an account. */
  askedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}
export const Users = table<UserRow>('users', {
  id: key(),
  githubId: big({ nullable: true }),
  login: text(),
  name: text({ default: '' }),
  avatarUrl: text({ default: '' }),
  admittedUntil: maybeTime(),
  askedAt: maybeTime(),
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
  isSession: boolean;
  /** What the token allows. */
  scopes: Scope;
}

export interface ProjectRow {
  id: string;
  name: string;
  slug: string;
  description: string;
  budgets: Partial<ProjectBudgets>;
  sharePrivateContext: boolean;
  /** Whether a person approves a change before it is pushed. A repository may ask for that too. */
  push: PushMode;
  /** A version of the agent that starts where nobody names one; null for the built-in Developer. */
  defaultAgentId: string | null;
  /** The person who created the project; null for the project of an installation. */
  createdBy: string | null;
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
  push: text({ default: 'free' }),
  defaultAgentId: maybeText(),
  createdBy: maybeText(),
  createdAt: madeNow(),
  updatedAt: madeNow(),
});

export interface MemberRow {
  projectId: string;
  userId: string;
  role: Role;
  addedBy: string | null;
  isGranted: boolean;
  givenRole: Role | null;
  createdAt: Date;
}
export const Members = table<MemberRow>('members', {
  projectId: key(),
  userId: key(),
  role: text(),
  addedBy: maybeText(),
  isGranted: flag(false),
  givenRole: maybeText(),
  createdAt: madeNow(),
});

/** The views of boards that members have saved. */
export interface SavedViewRow {
  projectId: string;
  userId: string;
  name: string;
  query: string;
  createdAt: Date;
}
export const SavedViews = table<SavedViewRow>('saved_views', {
  projectId: key(),
  userId: key(),
  name: key(),
  query: text(),
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
  /** Whether the repository is archived, and therefore read-only, on GitHub. */
  isArchived: boolean;
  /** The labels that its settings asked of workers when a run read them last. Only SQL uses it. */
  runsOn?: string[];
  /** What its settings said last about proofs; see `rulesForEverybody`. Only SQL uses it. */
  proofRules?: string | null;
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
  isArchived: flag(false),
  runsOn: text({ array: true, default: [] }),
  proofRules: maybeText(),
  githubId: big({ nullable: true }),
  connectedBy: maybeText(),
  createdAt: madeNow(),
});

export interface AgentRow {
  id: string;
  projectId: string | null;
  creatorId: string | null;
  /** Which of the built-in agents this is a version of; null for others. Renaming an agent does not change it. */
  builtIn: BuiltInAgent | null;
  name: string;
  description: string;
  team: string;
  model: string;
  /** Null leaves it to the model server. */
  reasoningEffort: ReasoningEffort | null;
  maxOutputTokens: number | null;
  systemPrompt: string;
  /** Shared by all versions of an agent. The database sets it. */
  lineId: string;
  version: number;
  previousVersionId: string | null;
  isNewest: boolean;
  /** The percentage of tasks that this version takes. The version before it takes the others. */
  rollout: number;
  createdAt: Date;
}
export const Agents = table<AgentRow>('agents', {
  id: key(),
  projectId: maybeText(),
  creatorId: maybeText(),
  builtIn: maybeText(),
  name: text(),
  description: text({ default: '' }),
  team: text({ default: '' }),
  model: text({ default: '' }),
  reasoningEffort: maybeText(),
  maxOutputTokens: whole({ nullable: true }),
  systemPrompt: text({ default: '' }),
  lineId: text(),
  version: whole({ default: 1 }),
  previousVersionId: maybeText(),
  isNewest: flag(true),
  rollout: whole({ default: 100 }),
  createdAt: madeNow(),
});
