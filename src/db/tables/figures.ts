import type { TaskStatus } from '../../domain/task.ts';
import { big, flag, key, table, text, time, whole } from './table.ts';

/** Linguist's languages by file extension. */
export interface LanguageRow {
  extension: string;
  name: string;
}
const Languages = table<LanguageRow>('languages', { extension: key(), name: text() });

const texts = () => text({ array: true });
const days = () => time({ type: 'date', array: true });

/** What a task contributes to the figures of one version of an agent. Version 0 means all versions together. */
export interface TaskFigureRow {
  taskId: string;
  lineId: string;
  version: number;
  projectId: string;
  completed: boolean;
  failed: boolean;
  /** From the start of the first run until the task was done; null unless it is done. */
  milliseconds: number | null;
  lines: number;
  pulls: number;
  languages: string[];
  /** The days (UTC) on which its runs succeeded and failed, one entry for each run. */
  succeededOn: string[];
  failedOn: string[];
}
const TaskFigures = table<TaskFigureRow>('task_figures', {
  taskId: key(),
  lineId: key(),
  version: whole({ primary: true }),
  projectId: key(),
  completed: flag(false),
  failed: flag(false),
  milliseconds: big({ nullable: true }),
  lines: big(),
  pulls: whole(),
  languages: texts(),
  succeededOn: days(),
  failedOn: days(),
});

/** The sums of the figures of all tasks. */
export interface AgentFigureRow {
  lineId: string;
  version: number;
  projectId: string;
  tasks: number;
  completed: number;
  failed: number;
  /** The number of tasks in the sum of milliseconds. */
  timed: number;
  milliseconds: number;
  lines: number;
  pulls: number;
}
const AgentFigures = table<AgentFigureRow>('agent_figures', {
  lineId: key(),
  version: whole({ primary: true }),
  projectId: key(),
  tasks: whole({ default: 0 }),
  completed: whole({ default: 0 }),
  failed: whole({ default: 0 }),
  timed: whole({ default: 0 }),
  milliseconds: big({ default: 0 }),
  lines: big({ default: 0 }),
  pulls: whole({ default: 0 }),
});

/** The number of merged tasks with files in a language. */
export interface AgentSkillRow {
  lineId: string;
  version: number;
  projectId: string;
  language: string;
  tasks: number;
}
const AgentSkills = table<AgentSkillRow>('agent_skills', {
  lineId: key(),
  version: whole({ primary: true }),
  projectId: key(),
  language: key(),
  tasks: whole(),
});

/** The number of runs that ended on a day (UTC). */
export interface AgentDayRow {
  lineId: string;
  version: number;
  projectId: string;
  day: string;
  succeeded: number;
  failed: number;
}
const AgentDays = table<AgentDayRow>('agent_days', {
  lineId: key(),
  version: whole({ primary: true }),
  projectId: key(),
  day: time({ type: 'date', primary: true }),
  succeeded: whole(),
  failed: whole(),
});

/** What a project has used on a day (UTC), by what it was for. Each is empty for none. */
export interface SpendDayRow {
  projectId: string;
  day: string;
  /** The line of the agent's versions. */
  lineId: string;
  /** The person who started the run or asked. */
  userId: string;
  model: string;
  sprintId: string;
  repositoryId: string;
  costUsd: string;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
}
const SpendDays = table<SpendDayRow>('spend_days', {
  projectId: key(),
  day: time({ type: 'date', primary: true }),
  lineId: key(),
  userId: key(),
  model: key(),
  sprintId: key(),
  repositoryId: key(),
  costUsd: { type: 'numeric' },
  inputTokens: big(),
  cachedInputTokens: big(),
  outputTokens: big(),
});

/** What models have cost on a day (UTC) in the projects that a person created, and for the person's own agents. */
export interface PersonSpendDayRow {
  userId: string;
  day: string;
  costUsd: string;
}
const PersonSpendDays = table<PersonSpendDayRow>('person_spend_days', {
  userId: key(),
  day: time({ type: 'date', primary: true }),
  costUsd: { type: 'numeric' },
});

/** How often somebody who is no member of a project let its model work by comments, in the latest hour in which they did. */
export interface AsksOfStrangerRow {
  userId: string;
  hour: Date;
  count: number;
}
const AsksOfStrangers = table<AsksOfStrangerRow>('asks_of_strangers', { userId: key(), hour: time(), count: whole() });

/** The number of tasks of a project in a status. */
export interface TaskCountRow {
  projectId: string;
  status: TaskStatus;
  tasks: number;
}
const TaskCounts = table<TaskCountRow>('task_counts', { projectId: key(), status: key(), tasks: whole() });

/** What a transaction must count before it commits: tasks whose figures may have changed. */
export interface StaleTaskRow {
  transaction: string;
  /** Empty for the row that marks the transaction. */
  taskId: string;
}
const StaleTasks = table<StaleTaskRow>('stale_tasks', { transaction: key(), taskId: key() });

/** What a transaction must count before it commits: tasks that were added to a status or taken from it. */
export interface TaskChangeRow {
  transaction: string;
  number: number;
  projectId: string;
  status: TaskStatus;
  tasks: number;
}
const TaskChanges = table<TaskChangeRow>('task_changes', {
  transaction: key(),
  number: big({ primary: true, generated: true }),
  projectId: text(),
  status: text(),
  tasks: whole(),
});

/** All tables of this file, for the list in list.ts. */
export const figureTables = [
  Languages,
  TaskFigures,
  AgentFigures,
  AgentSkills,
  AgentDays,
  SpendDays,
  PersonSpendDays,
  AsksOfStrangers,
  TaskCounts,
  StaleTasks,
  TaskChanges,
];
