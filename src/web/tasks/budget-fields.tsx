import { useQuery } from '@tanstack/react-query';
import { type RunBudgetKey, runBudgetKeys } from '../../domain/budget.ts';
import { formatNumber } from '../display/formats.ts';
import { LimitFields } from '../forms/limit-fields.tsx';
import * as queries from '../live/queries.ts';
import { type BudgetTexts, budgetProblem, highestBudget } from './budget-texts.ts';

const labels: Record<RunBudgetKey, string> = {
  costUsd: 'Cost per run (USD)',
  steps: 'Steps per run',
  minutes: 'Minutes per run',
  tokens: 'Tokens per run',
};

/** Shows the budget of a task, each limit with the one of the project or the service below it. */
export function BudgetFields(props: {
  projectId: string;
  budget: BudgetTexts;
  onChange(key: RunBudgetKey, text: string): void;
}) {
  const { projectId, budget, onChange } = props;
  const { data: project } = useQuery(queries.project(projectId));
  if (project === undefined) return null;
  const fields = runBudgetKeys.map((key) => {
    const highest = highestBudget(project, key);
    const problem = budgetProblem(key, budget[key], highest);
    return { key, label: labels[key], text: budget[key], problem, caption: `At most ${formatNumber(highest)}` };
  });
  const note = 'Each run counts from zero. A change also applies to a run in progress, from its next turn.';
  return <LimitFields title="Budget" note={note} fields={fields} onChange={onChange} />;
}
