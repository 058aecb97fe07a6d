import { FormControl, TextInput } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { type RunBudgetKey, runBudgetKeys } from '../../domain/budget.ts';
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
  return (
    <fieldset className="plain-fieldset">
      <legend className="strong">Budget</legend>
      <p className="muted">
        Each run counts from zero. A change also applies to a run in progress, from its next turn.
      </p>
      <div className="fields wide">
        {runBudgetKeys.map((key) => {
          const highest = highestBudget(project, key);
          const problem = budgetProblem(key, budget[key], highest);
          return (
            <FormControl key={key}>
              <FormControl.Label>{labels[key]}</FormControl.Label>
              <TextInput
                type="number"
                step="any"
                block
                value={budget[key]}
                validationStatus={problem === undefined ? undefined : 'error'}
                onChange={(event) => onChange(key, event.target.value)}
              />
              {problem !== undefined && <FormControl.Validation variant="error">{problem}</FormControl.Validation>}
              <FormControl.Caption>At most {highest.toLocaleString('en')}</FormControl.Caption>
            </FormControl>
          );
        })}
      </div>
    </fieldset>
  );
}
