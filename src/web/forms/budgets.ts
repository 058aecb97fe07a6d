import { isAmount, limitNames, type RunBudgetKey, runBudgetKeys } from '../../domain/budget.ts';
import type { Project, Task } from '../api.ts';
import { formatNumber } from '../display/formats.ts';
import { changedFields } from './submit.ts';

export type ProjectBudget = keyof Project['budgets'];

/** Budgets as typed into a form. An empty string means the limit of the project or the service. */
export type BudgetTexts<Key extends string> = Record<Key, string>;

/** What the budgets are called, in the order of the settings. */
export const budgetNames: Record<ProjectBudget, string> = {
  runMinutes: 'Minutes per run',
  runSteps: 'Steps per run',
  runTokens: 'Tokens per run',
  runCostUsd: 'Cost per run (USD)',
  dayCostUsd: 'Daily budget of the project (USD)',
};

export const projectBudgets = Object.keys(budgetNames) as ProjectBudget[];

const textsOf = <Key extends string>(keys: readonly Key[], budgets: { [key in Key]?: number | null }) =>
  Object.fromEntries(keys.map((key) => [key, String(budgets[key] ?? '')])) as BudgetTexts<Key>;

export const projectBudgetTexts = ({ budgets }: Pick<Project, 'budgets'>) => textsOf(projectBudgets, budgets);
export const taskBudgetTexts = ({ budget }: Pick<Task, 'budget'>) => textsOf(runBudgetKeys, budget ?? {});

/** Returns the budgets whose texts differ from those before. */
export function changedProjectBudgets(
  before: BudgetTexts<ProjectBudget>,
  after: BudgetTexts<ProjectBudget>,
): Partial<Project['budgets']> {
  const changes = changedFields(before, after);
  return Object.fromEntries(
    Object.entries(changes).map(([budget, text]) => [budget, text === '' ? null : Number(text)]),
  );
}

/** Returns the budget of a task to send, or undefined when nothing was changed. */
export function changedTaskBudget(
  before: BudgetTexts<RunBudgetKey>,
  after: BudgetTexts<RunBudgetKey>,
): Task['budget'] | undefined {
  if (runBudgetKeys.every((key) => before[key] === after[key])) return undefined;
  const given = runBudgetKeys.filter((key) => after[key].trim() !== '');
  return given.length === 0 ? null : Object.fromEntries(given.map((key) => [key, Number(after[key])]));
}

/** Returns the limit that a budget of a task of the project cannot exceed. */
export function highestBudget({ budgets, limits }: Pick<Project, 'budgets' | 'limits'>, key: RunBudgetKey): number {
  const name = limitNames[key];
  return Math.min(budgets[name] ?? limits[name], limits[name]);
}

/** Returns why the service would refuse a budget of a project, or undefined if it would accept it. */
export function projectBudgetProblem(text: string, limit: number): string | undefined {
  if (text === '') return undefined;
  if (!(Number(text) > 0)) return 'Enter a number above 0, or leave the field empty.';
  if (Number(text) <= limit) return undefined;
  return `This service allows at most ${formatNumber(limit)}. Ask its operator to raise the limit, or enter less.`;
}

/** Returns why the service would refuse a budget of a task, or undefined if it would accept it. */
export function taskBudgetProblem(key: RunBudgetKey, text: string, highest: number): string | undefined {
  if (text.trim() === '') return undefined;
  if (!isAmount(key, Number(text)))
    return `Enter a ${['steps', 'tokens'].includes(key) ? 'whole ' : ''}number above 0, or leave the field empty.`;
  return Number(text) <= highest ? undefined : `Enter at most ${formatNumber(highest)}.`;
}
