import { AuditRecords } from './audit.ts';
import { EnvironmentSecrets, EnvironmentTrials, SecretRepositories } from './environment.ts';
import { figureTables } from './figures.ts';
import {
  Compared,
  Deliveries,
  GitHubPaces,
  HandledCommands,
  Installations,
  Leftovers,
  Mirrored,
  MirrorWrites,
  ReadMarks,
  SetupCodes,
  SignIns,
  StoredApps,
} from './github.ts';
import { McpHeaders, McpServers } from './mcp.ts';
import { Agents, ApiTokens, Members, ProjectSecrets, Projects, Repositories, SavedViews, Users } from './project.ts';
import { runTables, waitingTables } from './run.ts';
import { Digests, PlanEditors, SprintHistories, SprintMilestones, Sprints, WizardSessions } from './sprint.ts';
import { Handoffs, PullRequests, Runs, Tasks } from './task.ts';
import {
  AgentSuggestions,
  Departures,
  HealthResets,
  IdempotencyKeys,
  ProjectEvents,
  ReconciledProjects,
  Reconciliations,
  RecoveredTasks,
} from './upkeep.ts';

/** All tables, for TypeORM. A test compares them with the migrations, column by column. */
export const tables = [
  Users,
  ApiTokens,
  Projects,
  Members,
  SavedViews,
  ProjectSecrets,
  Installations,
  Repositories,
  Agents,
  McpServers,
  McpHeaders,
  EnvironmentSecrets,
  SecretRepositories,
  EnvironmentTrials,
  Tasks,
  Runs,
  Handoffs,
  PullRequests,
  ...runTables,
  ...waitingTables,
  ...figureTables,
  Sprints,
  SprintHistories,
  SprintMilestones,
  Digests,
  WizardSessions,
  PlanEditors,
  Deliveries,
  HandledCommands,
  Compared,
  Mirrored,
  MirrorWrites,
  Leftovers,
  GitHubPaces,
  ReadMarks,
  StoredApps,
  SetupCodes,
  SignIns,
  ProjectEvents,
  IdempotencyKeys,
  Departures,
  HealthResets,
  AgentSuggestions,
  Reconciliations,
  ReconciledProjects,
  RecoveredTasks,
  AuditRecords,
];
