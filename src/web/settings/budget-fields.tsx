import { FormControl, TextInput } from '@primer/react';
import type { Budget, BudgetTexts } from './use-project-form.ts';

const labels: Record<Budget, string> = {
  runMinutes: 'Minutes per run',
  runSteps: 'Steps per run',
  runTokens: 'Tokens per run',
  runCostUsd: 'Cost per run (USD)',
  dayCostUsd: 'Daily budget for all runs (USD)',
};

/** The limits of a project. The API does not report the limits of the service, so a higher value is not refused here. */
export function BudgetFields(props: {
  budgets: BudgetTexts;
  canEdit: boolean;
  onChange(budget: Budget, text: string): void;
}) {
  const { budgets, canEdit, onChange } = props;
  return (
    <fieldset className="plain-fieldset">
      <legend className="strong">Budgets</legend>
      <p className="muted">
        Leave a field empty to use the limit of the service. That limit also applies where it is lower than the value
        here.
      </p>
      <div className="fields wide">
        {(Object.keys(labels) as Budget[]).map((budget) => (
          <FormControl key={budget} disabled={!canEdit}>
            <FormControl.Label>{labels[budget]}</FormControl.Label>
            <TextInput
              type="number"
              min={0}
              step="any"
              block
              value={budgets[budget]}
              onChange={(event) => onChange(budget, event.target.value)}
            />
          </FormControl>
        ))}
      </div>
    </fieldset>
  );
}
