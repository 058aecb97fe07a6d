import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { changedFields } from '../forms/submit.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import * as queries from '../live/queries.ts';
import { type Budget, budgetProblem, budgetTextsOf, changedBudgets } from './budget-texts.ts';

interface ProjectFields {
  name: string;
  description: string;
  sharePrivateContext: boolean;
  push: api.Project['push'];
}

/** Returns the state of the general settings, and the request that saves the changed fields. */
export function useProjectForm(project: api.Project) {
  const client = useQueryClient();
  // The project as it was when the page opened. Only differences from it are sent, so that later changes by others are
  // not overwritten.
  const [initial, setInitial] = useState(project);
  const [fields, setFields] = useState<ProjectFields>(() => fieldsOf(project));
  const [budgets, setBudgets] = useState(() => budgetTextsOf(project));
  const changed = changedBudgets(initial, budgets);
  const save = useMutation({
    mutationFn: () =>
      api.updateProject(project.id, {
        ...changedFields(fieldsOf(initial), { ...fields, name: fields.name.trim() }),
        budgets: changed,
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
    limits: project.limits,
    setBudget: (budget: Budget, text: string) => setBudgets((before) => ({ ...before, [budget]: text })),
    save,
    /** Budgets that were not changed are not sent, so they need no validation. */
    isValid: () =>
      (Object.keys(changed) as Budget[]).every(
        (budget) => budgetProblem(budgets[budget], project.limits[budget]) === undefined,
      ),
  };
}

function fieldsOf({ name, description, sharePrivateContext, push }: api.Project): ProjectFields {
  return { name, description, sharePrivateContext, push };
}
