import { Button, Checkbox, FormControl, Textarea, TextInput } from '@primer/react';
import type { Project } from '../api.ts';
import { submitOnce } from '../forms/submit.ts';
import { BudgetFields } from './budget-fields.tsx';
import { useProjectForm } from './use-project-form.ts';

export function GeneralSettings({ project, canEdit }: { project: Project; canEdit: boolean }) {
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
      <BudgetFields budgets={budgets} limits={limits} canEdit={canEdit} onChange={setBudget} />
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
