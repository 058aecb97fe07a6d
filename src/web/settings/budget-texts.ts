import type { Project } from '../api.ts';
import { formatNumber } from '../display/formats.ts';
import { changedFields } from '../forms/submit.ts';

export type Budget = keyof Project['budgets'];

/** Budgets as typed into the form. An empty string means the service's limit. */
export type BudgetTexts = Record<Budget, string>;

export function budgetTextsOf({ budgets }: Project): BudgetTexts {
  return Object.fromEntries(
    Object.entries(budgets).map(([budget, limit]) => [budget, String(limit ?? '')]),
  ) as BudgetTexts;
}

/** Returns the budgets that differ from those of the project. */
export function changedBudgets(project: Project, texts: BudgetTexts): Partial<Project['budgets']> {
  const changes = changedFields(budgetTextsOf(project), texts);
  return Object.fromEntries(
    Object.entries(changes).map(([budget, text]) => [budget, text === '' ? null : Number(text)]),
  );
}

/** Returns why the service would refuse a budget, or undefined if it would accept it. */
export function budgetProblem(text: string, limit: number): string | undefined {
  if (text === '') return undefined;
  if (!(Number(text) > 0)) return 'Enter a number above 0, or leave the field empty.';
  if (Number(text) <= limit) return undefined;
  return `This service allows at most ${formatNumber(limit)}. Ask its operator to raise the limit, or enter less.`;
}
