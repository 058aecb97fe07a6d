import { Button, Checkbox, Flash, FormControl, Textarea, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import { FormButtons, FormDialog } from '../forms/form-dialog.tsx';
import { SelectField } from '../forms/select-field.tsx';
import { submitOnce } from '../forms/submit.ts';
import { useFormDraft } from '../forms/use-draft.ts';
import { errorMessage } from '../live/errors.ts';
import * as agentQueries from '../live/queries/agents.ts';
import * as repositoryQueries from '../live/queries/repositories.ts';
import * as queries from '../live/queries.ts';
import { ownZone, type Template, templates } from './templates.ts';
import { dueText, eventNames } from './words.ts';

type Event = keyof typeof eventNames;

interface Fields {
  name: string;
  /** Empty for a schedule. */
  event: Event | '';
  cron: string;
  timezone: string;
  label: string;
  author: string;
  branch: string;
  title: string;
  description: string;
  owner: string;
  repositoryId: string;
  base: string;
  start: boolean;
  planFirst: boolean;
  mostPerDay: string;
}

const blank = { label: '', author: '', branch: '', owner: '', repositoryId: '', base: '', planFirst: false };

function fieldsOf({ name, on, title, description, start }: Template): Partial<Fields> {
  const { event = '', cron = '0 3 * * 1-5', timezone = ownZone(), label = '', author = '', branch = '' } = on;
  return { name, event, cron, timezone, label, author, branch, title, description, start };
}

function fieldsOfAutomation({ task, mostPerDay, ...rest }: api.Automation): Partial<Fields> {
  const { owner, repositoryId, base, planFirst } = task;
  const own = { owner, repositoryId, base: base ?? '', planFirst: planFirst ?? false, mostPerDay: String(mostPerDay) };
  return { ...fieldsOf({ ...rest, ...task }), ...own };
}

function triggerOf({ event, cron, timezone, label, author, branch }: Fields): api.AutomationTrigger {
  if (event === '') return { cron, timezone };
  const given = Object.entries({ label, author, branch }).filter(([, value]) => value.trim() !== '');
  return { event, ...Object.fromEntries(given.map(([name, value]) => [name, value.trim()])) };
}

interface Props {
  projectId: string;
  /** The automation to edit; undefined to create one. */
  automation: api.Automation | undefined;
  onClose(): void;
}

/** Creates or edits an automation. */
export function AutomationForm({ projectId, automation, onClose }: Props) {
  const { fields, set, save, clear } = useAutomationForm(projectId, automation, onClose);
  const { data: repositories } = useQuery(repositoryQueries.repositories(projectId));
  const { data: agents } = useQuery(agentQueries.agentsOf(projectId));
  return (
    <FormDialog
      title={automation === undefined ? 'New automation' : 'Edit automation'}
      width="xlarge"
      onClose={onClose}
    >
      <form className="stack" onSubmit={submitOnce(save)}>
        {save.error && <Flash variant="danger">{errorMessage(save.error)}</Flash>}
        {automation === undefined && <Templates onChoose={(template) => set(fieldsOf(template))} />}
        <TextField label="Name" isRequired value={fields.name} onChange={(name) => set({ name })} />
        <TriggerFields fields={fields} set={set} />
        <SelectField
          label="Repository"
          emptyOption="Choose a repository"
          value={fields.repositoryId}
          options={repositories}
          onSelect={(repositoryId) => set({ repositoryId })}
        />
        <SelectField
          label="Agent"
          emptyOption="Choose an agent"
          value={fields.owner}
          options={agents}
          onSelect={(owner) => set({ owner })}
        />
        <TextField label="Title of the task" isRequired value={fields.title} onChange={(title) => set({ title })} />
        <FormControl>
          <FormControl.Label>Description of the task</FormControl.Label>
          <Textarea
            block
            rows={6}
            value={fields.description}
            onChange={(event) => set({ description: event.target.value })}
          />
        </FormControl>
        <TextField label="Branch from which it starts" value={fields.base} onChange={(base) => set({ base })} />
        <CheckField
          label="The agent proposes a plan first"
          value={fields.planFirst}
          onChange={(planFirst) => set({ planFirst })}
        />
        <CheckField
          label="Start the task at once"
          caption="Otherwise it waits in the backlog. What strangers wrote reaches the agent, as data: with this, nobody reads it before."
          value={fields.start}
          onChange={(start) => set({ start })}
        />
        <TextField
          label="Most tasks in a day"
          isRequired
          value={fields.mostPerDay}
          onChange={(mostPerDay) => set({ mostPerDay })}
        />
        <Trial projectId={projectId} on={triggerOf(fields)} repositoryId={fields.repositoryId} />
        <FormButtons
          submit={automation === undefined ? 'Create automation' : 'Save changes'}
          isBusy={save.isPending}
          onCancel={() => {
            clear();
            onClose();
          }}
        />
      </form>
    </FormDialog>
  );
}

function useAutomationForm(projectId: string, automation: api.Automation | undefined, onClose: () => void) {
  const client = useQueryClient();
  const first = fieldsOf({ name: '', on: {}, title: '', description: '', start: false });
  const { fields, set, clear } = useFormDraft(`automation ${automation?.id ?? `new ${projectId}`}`, {
    ...{ ...blank, mostPerDay: '10', ...first },
    ...(automation && fieldsOfAutomation(automation)),
  } as Fields);
  const save = useMutation({
    mutationFn: () => {
      const { name, title, description, owner, repositoryId, base, planFirst, start, mostPerDay } = fields;
      const task = {
        title,
        description,
        owner,
        repositoryId,
        base: base.trim() || null,
        planFirst: planFirst || null,
        start,
      };
      const body = { name, on: triggerOf(fields), task, mostPerDay: Number(mostPerDay) };
      return automation === undefined
        ? api.createAutomation(projectId, body)
        : api.updateAutomation(projectId, automation.id, body);
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: queries.automations(projectId).queryKey });
      clear();
      onClose();
    },
  });
  return { fields, set, save, clear };
}

function Templates({ onChoose }: { onChoose(template: Template): void }) {
  const all = templates(ownZone());
  return (
    <SelectField
      label="Begin with"
      emptyOption="an empty form"
      options={all.map(({ name }) => ({ id: name, name }))}
      onSelect={(id) => {
        const chosen = all.find(({ name }) => name === id);
        if (chosen !== undefined) onChoose(chosen);
      }}
    />
  );
}

function TriggerFields({ fields, set }: { fields: Fields; set(change: Partial<Fields>): void }) {
  const { event, cron, timezone, label, author, branch } = fields;
  const isAbout = (...words: string[]) => words.some((word) => event.startsWith(word));
  return (
    <>
      <SelectField
        label="When"
        emptyOption="at times"
        value={event}
        options={Object.entries(eventNames).map(([id, name]) => ({ id, name }))}
        onSelect={(id) => set({ event: id as Event | '', label: '', author: '', branch: '' })}
      />
      {event === '' && (
        <div className="fields">
          <TextField label="Cron expression" isRequired value={cron} onChange={(value) => set({ cron: value })} />
          <TextField label="Time zone" isRequired value={timezone} onChange={(value) => set({ timezone: value })} />
        </div>
      )}
      {isAbout('issue', 'pull_request') && (
        <TextField label="Only with this label" value={label} onChange={(value) => set({ label: value })} />
      )}
      {event !== '' && event !== 'checks.failed' && (
        <TextField label="Only by this account" value={author} onChange={(value) => set({ author: value })} />
      )}
      {event !== '' && !isAbout('issue') && (
        <TextField label="Only on this branch" value={branch} onChange={(value) => set({ branch: value })} />
      )}
    </>
  );
}

/** Says how many tasks the automation would have made, when the person asks. */
function Trial({
  projectId,
  on,
  repositoryId,
}: {
  projectId: string;
  on: api.AutomationTrigger;
  repositoryId: string;
}) {
  const trial = useMutation({
    mutationFn: () => api.tryAutomation(projectId, { ...on, ...(repositoryId === '' ? {} : { repositoryId }) }),
  });
  const { data } = trial;
  const next = data?.next.map((at) => dueText(at, ownZone(), on.timezone)) ?? [];
  return (
    <div className="row wrap-row">
      <Button loading={trial.isPending} onClick={() => trial.mutate()}>
        Try it
      </Button>
      <output className="muted wrap">
        {trial.error && errorMessage(trial.error)}
        {data &&
          `It would have made ${data.isAtLeast ? 'at least ' : ''}${plural(data.count, 'task')} in the last week. `}
        {next.length > 0 && `Next: ${next.join('; ')}.`}
      </output>
    </div>
  );
}

function TextField(props: { label: string; value: string; isRequired?: boolean; onChange(value: string): void }) {
  const { label, value, isRequired = false, onChange } = props;
  return (
    <FormControl required={isRequired}>
      <FormControl.Label>{label}</FormControl.Label>
      <TextInput block value={value} onChange={(event) => onChange(event.target.value)} />
    </FormControl>
  );
}

function CheckField(props: { label: string; caption?: string; value: boolean; onChange(value: boolean): void }) {
  const { label, caption, value, onChange } = props;
  return (
    <FormControl>
      <Checkbox checked={value} onChange={(event) => onChange(event.target.checked)} />
      <FormControl.Label>{label}</FormControl.Label>
      {caption !== undefined && <FormControl.Caption>{caption}</FormControl.Caption>}
    </FormControl>
  );
}
