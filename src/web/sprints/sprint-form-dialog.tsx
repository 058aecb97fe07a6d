import { Flash, FormControl, Textarea, TextInput } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import { dayText } from '../display/times.tsx';
import { FormButtons, FormDialog, TitleField } from '../forms/form-dialog.tsx';
import { changedFields, submitOnce } from '../forms/submit.ts';
import { useFormDraft } from '../forms/use-draft.ts';
import { errorMessage } from '../live/errors.ts';

type Fields = Pick<api.Sprint, 'name' | 'goal' | 'startDate' | 'endDate'>;

const dayFromToday = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

interface Props {
  projectId: string;
  /** The sprint to edit; undefined to create one. */
  sprint?: api.Sprint;
  onSaved(sprint: api.Sprint): void;
  onClose(): void;
}

/** The dialog of an existing sprint does not show its first day, so a problem with that names the day. */
const labelsOf = (sprint: api.Sprint | undefined) => ({
  ...{ name: 'Name', goal: 'Goal', endDate: 'Last day' },
  startDate: sprint === undefined ? 'First day' : `the first day, ${sprint.startDate.slice(0, 10)}`,
});

/** Creates or edits a sprint. The first day of an existing sprint cannot be changed. */
export function SprintFormDialog(props: Props) {
  const { sprint, onClose } = props;
  const { fields, set, clear, save } = useSprintForm(props);
  const onCancel = () => {
    clear();
    onClose();
  };
  return (
    <FormDialog title={sprint === undefined ? 'New sprint' : 'Edit sprint'} onClose={onClose} width="large">
      <form className="stack" onSubmit={submitOnce(save)}>
        {save.error && <Flash variant="danger">{errorMessage(save.error, labelsOf(sprint))}</Flash>}
        <TitleField label="Name" instead="the goal" value={fields.name} onChange={(name) => set({ name })} />
        <FormControl>
          <FormControl.Label>Goal</FormControl.Label>
          <Textarea block rows={3} value={fields.goal} onChange={(event) => set({ goal: event.target.value })} />
        </FormControl>
        <div className="fields">
          {sprint === undefined && (
            <DayField label="First day" value={fields.startDate} onChange={(startDate) => set({ startDate })} />
          )}
          <DayField
            label="Last day"
            value={fields.endDate}
            problem={fields.endDate < fields.startDate ? `Choose ${dayText(fields.startDate)} or later.` : undefined}
            onChange={(endDate) => set({ endDate })}
          />
        </div>
        <FormButtons
          submit={sprint === undefined ? 'Create sprint' : 'Save changes'}
          isBusy={save.isPending}
          onCancel={onCancel}
        />
      </form>
    </FormDialog>
  );
}

function useSprintForm({ projectId, sprint, onSaved }: Props) {
  const client = useQueryClient();
  // Only differences from the sprint as it was when the dialog opened are sent, so that later changes by others are not
  // overwritten.
  const place = sprint === undefined ? `new sprint ${projectId}` : `edit sprint ${sprint.id}`;
  const { initial, fields, set, clear } = useFormDraft<Fields>(place, {
    name: sprint?.name ?? '',
    goal: sprint?.goal ?? '',
    startDate: sprint?.startDate.slice(0, 10) ?? dayFromToday(0),
    endDate: sprint?.endDate.slice(0, 10) ?? dayFromToday(13),
  });
  const save = useMutation({
    mutationFn: () =>
      sprint === undefined
        ? api.createSprint(projectId, { ...fields, name: fields.name.trim() })
        : api.updateSprint(sprint.id, changedFields(initial, fields)),
    onSuccess: async (saved) => {
      clear();
      for (const key of ['sprints', 'sprint', 'metrics', 'burndown'])
        await client.invalidateQueries({ queryKey: [key] });
      onSaved(saved);
    },
  });
  return { fields, set, clear, save };
}

function DayField(props: {
  label: string;
  value: string;
  problem?: string | undefined;
  onChange(value: string): void;
}) {
  const { label, value, problem, onChange } = props;
  const shown = value === '' ? undefined : problem;
  return (
    <FormControl required>
      <FormControl.Label>{label}</FormControl.Label>
      <TextInput
        type="date"
        block
        value={value}
        {...(shown === undefined ? {} : { 'data-problem': shown, validationStatus: 'error' as const })}
        onChange={(event) => onChange(event.target.value)}
      />
      {shown !== undefined && <FormControl.Validation variant="error">{shown}</FormControl.Validation>}
    </FormControl>
  );
}
