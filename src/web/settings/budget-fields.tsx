import { FormControl, TextInput } from '@primer/react';
import type { Project } from '../api.ts';
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
  return (
    <fieldset className="plain-fieldset">
      <legend className="strong">Budgets</legend>
      <p className="muted">Leave a field empty to use the limit of this service.</p>
      <div className="fields wide">
        {(Object.keys(labels) as Budget[]).map((budget) => {
          const problem = budgetProblem(budgets[budget], limits[budget]);
          return (
            <FormControl key={budget} disabled={!canEdit}>
              <FormControl.Label>{labels[budget]}</FormControl.Label>
              <TextInput
                type="number"
                step="any"
                block
                value={budgets[budget]}
                validationStatus={problem === undefined ? undefined : 'error'}
                onChange={(event) => onChange(budget, event.target.value)}
              />
              {problem !== undefined && <FormControl.Validation variant="error">{problem}</FormControl.Validation>}
              <FormControl.Caption>Limit of this service: {limits[budget].toLocaleString()}</FormControl.Caption>
            </FormControl>
          );
        })}
      </div>
    </fieldset>
  );
}
