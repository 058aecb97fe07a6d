import { isAmount, type RunBudgetKey, runBudgetKeys } from '../../domain/budget.ts';
import type { Project, Task } from '../api.ts';
import { formatNumber } from '../display/formats.ts';

/** The budget of a task as typed into the form. An empty string means the limit of the project or the service. */
export type BudgetTexts = Record<RunBudgetKey, string>;

export function budgetTextsOf({ budget }: Pick<Task, 'budget'>): BudgetTexts {
  return Object.fromEntries(runBudgetKeys.map((key) => [key, String(budget?.[key] ?? '')])) as BudgetTexts;
}

/** Returns the budget to send, or undefined when nothing was changed. */
export function changedBudget(before: BudgetTexts, after: BudgetTexts): Task['budget'] | undefined {
  if (runBudgetKeys.every((key) => before[key] === after[key])) return undefined;
  const given = runBudgetKeys.filter((key) => after[key].trim() !== '');
  return given.length === 0 ? null : Object.fromEntries(given.map((key) => [key, Number(after[key])]));
}

const limitNames = { costUsd: 'runCostUsd', steps: 'runSteps', minutes: 'runMinutes', tokens: 'runTokens' } as const;

/** Returns the limit that a budget of a task of the project cannot exceed. */
export function highestBudget({ budgets, limits }: Project, key: RunBudgetKey): number {
  const name = limitNames[key];
  return Math.min(budgets[name] ?? limits[name], limits[name]);
}

/** Returns why the service would refuse a budget, or undefined if it would accept it. */
export function budgetProblem(key: RunBudgetKey, text: string, highest: number): string | undefined {
  if (text.trim() === '') return undefined;
  if (!isAmount(key, Number(text)))
    return `Enter a ${['steps', 'tokens'].includes(key) ? 'whole ' : ''}number above 0, or leave the field empty.`;
  return Number(text) <= highest ? undefined : `Enter at most ${formatNumber(highest)}.`;
}
