import { Flash, FormControl, Textarea, TextInput } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { changedOf } from '../forms/changed-fields.ts';
import { FormDialog, FormEnd } from '../forms/form-dialog.tsx';
import { submitting } from '../forms/submit-once.ts';
import { explain } from '../live/query-client.ts';

type Fields = Pick<api.Sprint, 'name' | 'goal' | 'startDate' | 'endDate'>;

const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

/** Makes a sprint of a project, or changes the one that is given; when it began stays. */
export function SprintForm(props: {
  projectId: string;
  sprint?: api.Sprint;
  onSaved(sprint: api.Sprint): void;
  onClose(): void;
}) {
  const { projectId, sprint, onSaved, onClose } = props;
  const client = useQueryClient();
  // As it was when the editing began: what others change meanwhile is not sent back as it was.
  const [from] = useState<Fields>(() => ({
    name: sprint?.name ?? '',
    goal: sprint?.goal ?? '',
    startDate: sprint?.startDate.slice(0, 10) ?? day(0),
    endDate: sprint?.endDate.slice(0, 10) ?? day(13),
  }));
  const [given, setGiven] = useState(from);
  const set = (change: Partial<Fields>) => setGiven((now) => ({ ...now, ...change }));
  const save = useMutation({
    mutationFn: () =>
      sprint === undefined
        ? api.postProjectsByProjectIdSprints(projectId, { ...given, name: given.name.trim() })
        : api.patchSprintsBySprintId(sprint.id, changedOf(from, given)),
    onSuccess: async (saved) => {
      for (const what of ['sprints', 'sprint', 'metrics', 'burndown'])
        await client.invalidateQueries({ queryKey: [what] });
      onSaved(saved);
    },
  });
  const send = submitting(save);
  return (
    <FormDialog title={sprint === undefined ? 'New sprint' : 'Edit the sprint'} onClose={onClose} width="large">
      <form className="stack" onSubmit={send}>
        {save.error && <Flash variant="danger">{explain(save.error)}</Flash>}
        <FormControl required>
          <FormControl.Label>Name</FormControl.Label>
          <TextInput block maxLength={200} value={given.name} onChange={(event) => set({ name: event.target.value })} />
        </FormControl>
        <FormControl>
          <FormControl.Label>Goal</FormControl.Label>
          <Textarea block rows={3} value={given.goal} onChange={(event) => set({ goal: event.target.value })} />
        </FormControl>
        <div className="fields">
          {sprint === undefined && (
            <DayField label="First day" value={given.startDate} onChange={(startDate) => set({ startDate })} />
          )}
          <DayField label="Last day" value={given.endDate} onChange={(endDate) => set({ endDate })} />
        </div>
        <FormEnd act={sprint === undefined ? 'Make the sprint' : 'Save'} isBusy={save.isPending} onClose={onClose} />
      </form>
    </FormDialog>
  );
}

function DayField({ label, value, onChange }: { label: string; value: string; onChange(value: string): void }) {
  return (
    <FormControl required>
      <FormControl.Label>{label}</FormControl.Label>
      <TextInput type="date" block value={value} onChange={(event) => onChange(event.target.value)} />
    </FormControl>
  );
}
