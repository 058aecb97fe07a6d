import type { Project } from '../api.ts';
import { formatNumber } from '../display/formats.ts';
import { LimitFields } from '../forms/limit-fields.tsx';
import { type Budget, type BudgetTexts, budgetProblem } from './budget-texts.ts';

const labels: Record<Budget, string> = {
  runMinutes: 'Minutes per run',
  runSteps: 'Steps per run',
  runTokens: 'Tokens per run',
  runCostUsd: 'Cost per run (USD)',
  dayCostUsd: 'Daily budget for all runs (USD)',
};

/** Shows the budgets of a project, each with the limit of the service below it. */
export function BudgetFields(props: {
  budgets: BudgetTexts;
  limits: Project['limits'];
  canEdit: boolean;
  onChange(budget: Budget, text: string): void;
}) {
  const { budgets, limits, canEdit, onChange } = props;
  const fields = (Object.keys(labels) as Budget[]).map((key) => ({
    key,
    label: labels[key],
    text: budgets[key],
    problem: budgetProblem(budgets[key], limits[key]),
    caption: `Limit of this service: ${formatNumber(limits[key])}`,
  }));
  const note = 'Leave a field empty to use the limit of this service.';
  return <LimitFields title="Budgets" note={note} fields={fields} canEdit={canEdit} onChange={onChange} />;
}
