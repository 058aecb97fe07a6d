import { FormControl, TextInput } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { limitNames, type RunBudgetKey, runBudgetKeys } from '../../domain/budget.ts';
import type { Project } from '../api.ts';
import { formatNumber } from '../display/formats.ts';
import * as queries from '../live/queries.ts';
import {
  type BudgetTexts,
  budgetNames,
  highestBudget,
  type ProjectBudget,
  projectBudgetProblem,
  projectBudgets,
  taskBudgetProblem,
} from './budgets.ts';

/** Shows the budgets of a project, each with the limit of the service below it. */
export function ProjectBudgetFields(props: {
  budgets: BudgetTexts<ProjectBudget>;
  limits: Project['limits'];
  canEdit: boolean;
  onChange(budget: ProjectBudget, text: string): void;
}) {
  const { budgets, limits, canEdit, onChange } = props;
  const fields = projectBudgets.map((key) => ({
    key,
    label: budgetNames[key],
    text: budgets[key],
    problem: projectBudgetProblem(budgets[key], limits[key]),
    caption: `Limit of this service: ${formatNumber(limits[key])}`,
  }));
  const note = 'Leave a field empty to use the limit of this service.';
  return <LimitFields title="Budgets" note={note} fields={fields} canEdit={canEdit} onChange={onChange} />;
}

/** Shows the budget of a task, each limit with the one of the project or the service below it. */
export function TaskBudgetFields(props: {
  projectId: string;
  budget: BudgetTexts<RunBudgetKey>;
  onChange(key: RunBudgetKey, text: string): void;
}) {
  const { projectId, budget, onChange } = props;
  const { data: project } = useQuery(queries.project(projectId));
  if (project === undefined) return null;
  const fields = runBudgetKeys.map((key) => {
    const highest = highestBudget(project, key);
    const problem = taskBudgetProblem(key, budget[key], highest);
    const caption = `At most ${formatNumber(highest)}`;
    return { key, label: budgetNames[limitNames[key]], text: budget[key], problem, caption };
  });
  const note = 'Each run counts from zero. A change also applies to a run in progress, from its next turn.';
  return <LimitFields title="Budget" note={note} fields={fields} onChange={onChange} />;
}

interface LimitField<Key extends string> {
  key: Key;
  label: string;
  text: string;
  /** What is wrong with the text, if anything. */
  problem: string | undefined;
  caption: string;
}

/** A group of fields for numbers that the service limits. */
function LimitFields<Key extends string>(props: {
  title: string;
  note: string;
  fields: LimitField<Key>[];
  canEdit?: boolean;
  onChange(key: Key, text: string): void;
}) {
  const { title, note, fields, canEdit = true, onChange } = props;
  return (
    <fieldset className="plain-fieldset">
      <legend className="strong">{title}</legend>
      <p className="muted">{note}</p>
      <div className="fields wide">
        {fields.map(({ key, label, text, problem, caption }) => (
          <FormControl key={key} disabled={!canEdit}>
            <FormControl.Label>{label}</FormControl.Label>
            <TextInput
              type="number"
              step="any"
              block
              value={text}
              validationStatus={problem === undefined ? undefined : 'error'}
              {...(problem === undefined ? {} : { 'data-problem': problem })}
              onChange={(event) => onChange(key, event.target.value)}
            />
            {problem !== undefined && <FormControl.Validation variant="error">{problem}</FormControl.Validation>}
            {problem === undefined && <FormControl.Caption>{caption}</FormControl.Caption>}
          </FormControl>
        ))}
      </div>
    </fieldset>
  );
}
