import { Button, Checkbox, FormControl, Textarea, TextInput } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import { ProjectBudgetFields } from '../forms/budget-fields.tsx';
import {
  changedProjectBudgets,
  type ProjectBudget,
  projectBudgetProblem,
  projectBudgetTexts,
} from '../forms/budgets.ts';
import { changedFields, submitOnce } from '../forms/submit.ts';
import { useFormDraft } from '../forms/use-draft.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import * as queries from '../live/queries.ts';

export function GeneralSettings({ project, canEdit }: { project: api.Project; canEdit: boolean }) {
  const { fields, set, budgets, limits, setBudget, save, isValid } = useProjectForm(project);
  return (
    <form className="box stack" onSubmit={submitOnce(save, isValid)}>
      <FormControl required disabled={!canEdit}>
        <FormControl.Label>Name</FormControl.Label>
        <TextInput block maxLength={200} value={fields.name} onChange={(event) => set({ name: event.target.value })} />
      </FormControl>
      <FormControl disabled={!canEdit}>
        <FormControl.Label>Description</FormControl.Label>
        <Textarea
          block
          rows={3}
          value={fields.description}
          onChange={(event) => set({ description: event.target.value })}
        />
      </FormControl>
      <ProjectBudgetFields budgets={budgets} limits={limits} canEdit={canEdit} onChange={setBudget} />
      <FormControl disabled={!canEdit}>
        <Checkbox
          checked={fields.sharePrivateContext}
          onChange={(event) => set({ sharePrivateContext: event.target.checked })}
        />
        <FormControl.Label>Share private context</FormControl.Label>
        <FormControl.Caption>
          Let runs that publish their results in a public repository read the private repositories of this project and
          call its MCP servers.
        </FormControl.Caption>
      </FormControl>
      <FormControl disabled={!canEdit}>
        <Checkbox
          checked={fields.push === 'approved'}
          onChange={(event) => set({ push: event.target.checked ? 'approved' : 'free' })}
        />
        <FormControl.Label>Approve changes before they are pushed</FormControl.Label>
        <FormControl.Caption>
          A run that has finished waits until a member approves its change. Repositories can require this in
          .deckhand.yml, too.
        </FormControl.Caption>
      </FormControl>
      {canEdit && (
        <div>
          <Button type="submit" variant="primary" loading={save.isPending}>
            Save changes
          </Button>
        </div>
      )}
    </form>
  );
}

interface ProjectFields {
  name: string;
  description: string;
  sharePrivateContext: boolean;
  push: api.Project['push'];
}

/** Returns the state of the general settings, and the request that saves the changed fields. */
function useProjectForm(project: api.Project) {
  const client = useQueryClient();
  // Only differences from the project as it was when the page opened are sent, so that later changes by others are not
  // overwritten.
  const { initial, fields, set, clear } = useFormDraft<ProjectFields>(`settings ${project.id}`, fieldsOf(project));
  const texts = useFormDraft(`budgets ${project.id}`, projectBudgetTexts(project));
  const budgets = texts.fields;
  const changed = changedProjectBudgets(texts.initial, budgets);
  const save = useMutation({
    mutationFn: () =>
      api.updateProject(project.id, {
        ...changedFields(initial, { ...fields, name: fields.name.trim() }),
        budgets: changed,
      }),
    onSuccess: (saved) => {
      clear(fieldsOf(saved));
      texts.clear(projectBudgetTexts(saved));
      client.setQueryData(queries.project(project.id).queryKey, saved);
      notify('Settings saved', 'success');
    },
    onError: notifyError,
  });
  return {
    fields,
    set,
    budgets,
    limits: project.limits,
    setBudget: (budget: ProjectBudget, text: string) => texts.set({ [budget]: text }),
    save,
    /** Budgets that were not changed are not sent, so they need no validation. */
    isValid: () =>
      (Object.keys(changed) as ProjectBudget[]).every(
        (budget) => projectBudgetProblem(budgets[budget], project.limits[budget]) === undefined,
      ),
  };
}

function fieldsOf({ name, description, sharePrivateContext, push }: api.Project): ProjectFields {
  return { name, description, sharePrivateContext, push };
}
