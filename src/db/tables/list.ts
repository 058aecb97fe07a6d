import { Automations } from './automation.ts';
import { EnvironmentSecrets, EnvironmentTrials, SecretRepositories } from './environment.ts';
import { figureTables } from './figures.ts';
import { Installations, Leftovers, Merges, Mirrored } from './github.ts';
import { McpHeaders, McpServers } from './mcp.ts';
import { Agents, Members, ProjectSecrets, Projects, Repositories, SavedViews, Users } from './project.ts';
import { Runs, runTables, waitingTables } from './run.ts';
import { Digests, Sprints } from './sprint.ts';
import { Handoffs, PullRequests, TaskDependencies, Tasks } from './task.ts';

/** The tables that TypeORM reads or writes. A test compares them with the migrations, column by column. */
export const tables = [
  Users,
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
  TaskDependencies,
  ...runTables,
  ...waitingTables,
  ...figureTables,
  Automations,
  Sprints,
  Digests,
  Mirrored,
  Merges,
  Leftovers,
];
