import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { changedFields } from '../forms/changed-fields.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import * as queries from '../live/queries.ts';

export type Budget = keyof api.Project['budgets'];

/** A budget as typed; empty for no limit of the project's own. */
export type BudgetTexts = Record<Budget, string>;

interface ProjectFields {
  name: string;
  description: string;
  sharePrivateContext: boolean;
}

/** The state of the general settings, and the request that saves what was changed. */
export function useProjectForm(project: api.Project) {
  const client = useQueryClient();
  // The project as it was when the page opened. Later changes by others must not be sent back.
  const [initial, setInitial] = useState(project);
  const [fields, setFields] = useState<ProjectFields>(() => fieldsOf(project));
  const [budgets, setBudgets] = useState(() => budgetTextsOf(project));
  const save = useMutation({
    mutationFn: () =>
      api.updateProject(project.id, {
        ...changedFields(fieldsOf(initial), { ...fields, name: fields.name.trim() }),
        budgets: changedBudgets(initial, budgets),
      }),
    onSuccess: (saved) => {
      setInitial(saved);
      client.setQueryData(queries.project(project.id).queryKey, saved);
      notify('Settings saved', 'success');
    },
    onError: notifyError,
  });
  return {
    fields,
    set: (change: Partial<ProjectFields>) => setFields((before) => ({ ...before, ...change })),
    budgets,
    setBudget: (budget: Budget, text: string) => setBudgets((before) => ({ ...before, [budget]: text })),
    save,
  };
}

function fieldsOf({ name, description, sharePrivateContext }: api.Project): ProjectFields {
  return { name, description, sharePrivateContext };
}

function budgetTextsOf({ budgets }: api.Project): BudgetTexts {
  return Object.fromEntries(
    Object.entries(budgets).map(([budget, limit]) => [budget, String(limit ?? '')]),
  ) as BudgetTexts;
}

function changedBudgets(initial: api.Project, texts: BudgetTexts): Partial<api.Project['budgets']> {
  const changes = changedFields(budgetTextsOf(initial), texts);
  return Object.fromEntries(
    Object.entries(changes).map(([budget, text]) => [budget, text === '' ? null : Number(text)]),
  );
}
