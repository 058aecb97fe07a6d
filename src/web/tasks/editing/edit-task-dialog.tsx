import { Button, Flash, FormControl, Textarea } from '@primer/react';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import * as api from '../../api.ts';
import { TaskBudgetFields } from '../../forms/budget-fields.tsx';
import { changedTaskBudget, taskBudgetTexts } from '../../forms/budgets.ts';
import { FormButtons, FormDialog, TitleField } from '../../forms/form-dialog.tsx';
import { SearchPicker } from '../../forms/search-picker.tsx';
import { SelectField } from '../../forms/select-field.tsx';
import { changedFields, submitOnCtrlEnter, submitOnce } from '../../forms/submit.ts';
import { TextChanges } from '../../forms/text-changes.tsx';
import { useFormDraft } from '../../forms/use-draft.ts';
import { usePaused } from '../../forms/use-paused.ts';
import { notify } from '../../frame/notices.tsx';
import { errorMessage, statusOf } from '../../live/errors.ts';
import { putTask } from '../../live/put-task.ts';
import * as agentQueries from '../../live/queries/agents.ts';
import * as repositoryQueries from '../../live/queries/repositories.ts';
import * as queries from '../../live/queries.ts';
import { isOpenSprint } from '../../sprints/is-open-sprint.ts';
import { BaseField } from './base-field.tsx';
import { PlanField, PriorityField } from './choice-fields.tsx';

type Fields = Pick<
  api.Task,
  'title' | 'description' | 'owner' | 'repositoryId' | 'base' | 'sprintId' | 'dependsOn' | 'planFirst' | 'priority'
> & { budget: ReturnType<typeof taskBudgetTexts> };

const nullable = ['owner', 'repositoryId', 'base', 'sprintId', 'planFirst'] as const;

function fieldsOf(task: api.Task): Fields {
  const { title, description, owner, repositoryId, base, sprintId, dependsOn, planFirst, priority } = task;
  return {
    title,
    description,
    owner,
    repositoryId,
    base,
    sprintId,
    dependsOn,
    planFirst,
    priority,
    budget: taskBudgetTexts(task),
  };
}

interface FieldsProps {
  task: api.Task;
  fields: Fields;
  set(change: Partial<Fields>): void;
}

export function EditTaskDialog({ task: currentTask, onClose }: { task: api.Task; onClose(): void }) {
  // The task as it was when the dialog opened. Only differences from it are sent, so that later changes by others are
  // not overwritten.
  const [task] = useState(currentTask);
  const client = useQueryClient();
  const { initial, fields, isRestored, set, clear } = useFormDraft(`edit task ${task.id}`, fieldsOf(task), nullable);
  // Others may have changed the same texts since the person wrote these.
  const [restored] = useState(() => ({ names: texts.filter((name) => fields[name] !== task[name]), fields }));
  const [asked, setAsked] = useState(currentTask);
  const current = asked.updatedAt > currentTask.updatedAt ? asked : currentTask;
  // The texts of others that the person has seen and wants to replace.
  const [replaced, setReplaced] = useState<Partial<Pick<Fields, Text>>>({});
  const overtaken = overtakenIn(task, current, fields).filter((name) => replaced[name] !== current[name]);
  const form = useRef<HTMLFormElement>(null);
  const close = () => {
    clear();
    onClose();
  };
  const save = useMutation({
    mutationFn: async () => {
      const change = changesOf(task, fields);
      const given = texts.filter((name) => change[name] !== undefined);
      const saveOver = (seen: api.Task) =>
        api.updateTask(task.id, { ...change, replaces: Object.fromEntries(given.map((name) => [name, seen[name]])) });
      const saved = await saveOver(current).catch(async (error) => {
        if (statusOf(error) !== 409) throw error;
        const now = await api.getTask(task.id);
        setAsked(now);
        if (overtakenIn(task, now, fields).some((name) => replaced[name] !== now[name])) throw new Error(overtakenText);
        // The person has seen all that would be replaced: it is their own text, or the one that they began with.
        return saveOver(now);
      });
      return fields.sprintId === task.sprintId ? saved : moveToSprint(task, fields.sprintId);
    },
    onSuccess: (saved) => {
      putTask(client, saved);
      notify('Task saved', 'success');
      close();
    },
  });
  /** Decides about one text. The focus, whose button is gone then, moves to the next decision, or to the button that saves. */
  const decide = (act: () => void) => {
    flushSync(act);
    form.current?.querySelector<HTMLElement>('[data-overtaken] button, [type=submit]')?.focus();
  };
  // What saving does may have changed in the moment in which the person presses the button.
  const hasDecided = () => {
    form.current?.querySelector<HTMLElement>('[data-overtaken] button')?.focus();
    return overtaken.length === 0;
  };
  return (
    <FormDialog title="Edit task" onClose={onClose} width="xlarge">
      <form className="stack" ref={form} onSubmit={submitOnce(save, hasDecided)} onKeyDown={submitOnCtrlEnter}>
        {save.error && save.error.message !== overtakenText && (
          <Flash variant="danger">{errorMessage(save.error)}</Flash>
        )}
        {isRestored && <Restored restored={restored} current={current} onStartOver={() => clear(initial)} />}
        {overtaken.length > 0 && (
          <Overtaken
            names={overtaken}
            current={current}
            fields={fields}
            onKeep={(name) => decide(() => setReplaced((before) => ({ ...before, [name]: current[name] })))}
            onTake={(name) => decide(() => set({ [name]: current[name] }))}
          />
        )}
        <TitleAndDescription task={task} fields={fields} set={set} />
        <Assignment task={task} fields={fields} set={set} />
        <TaskBudgetFields
          projectId={task.projectId}
          budget={fields.budget}
          onChange={(key, text) => set({ budget: { ...fields.budget, [key]: text } })}
        />
        <FormButtons submit="Save changes" isBusy={save.isPending} onCancel={close} />
      </form>
    </FormDialog>
  );
}

const texts = ['title', 'description'] as const;
type Text = (typeof texts)[number];

/** Names for screen readers. They differ from the labels of the fields, so that each label names one element. */
const wordOf = { title: 'heading', description: 'text' } satisfies Record<Text, string>;

const overtakenText = 'Somebody else has changed the same text.';

/** Returns the texts that the person has changed, and somebody else since then. */
function overtakenIn(before: api.Task, now: api.Task, fields: Fields): Text[] {
  return texts.filter((name) => now[name] !== before[name] && ![before[name], now[name]].includes(fields[name]));
}

/** Says that the form has changes that were not saved, and what they are. */
function Restored(props: {
  restored: { names: readonly Text[]; fields: Fields };
  current: api.Task;
  onStartOver(): void;
}) {
  const { restored, current, onStartOver } = props;
  return (
    <div className="stack tight">
      <p className="muted small">
        You changed this before and have not saved it.{' '}
        <Button variant="link" onClick={onStartOver}>
          Start over
        </Button>
      </p>
      {restored.names.map((name) => (
        <TextChanges
          key={name}
          before={current[name]}
          after={restored.fields[name]}
          label={`Unsaved ${wordOf[name]}`}
        />
      ))}
    </div>
  );
}

/** Shows what others have made of the texts since the dialog opened, and asks for each whether it is to be overwritten. */
function Overtaken(props: {
  names: Text[];
  current: api.Task;
  fields: Fields;
  onKeep(name: Text): void;
  onTake(name: Text): void;
}) {
  const { names, current, fields, onKeep, onTake } = props;
  return (
    <Flash variant="warning" role="alert" data-overtaken>
      {names.map((name) => (
        <div key={name} className="stack">
          <p>
            Somebody else has changed the {name} since you opened this. Choose whose text to keep before you save. Yours
            differs from theirs like this:
          </p>
          <TextChanges before={current[name]} after={fields[name]} label={`How your ${wordOf[name]} differs`} />
          <div className="row wrap-row">
            <Button size="small" onClick={() => onTake(name)}>
              Use their {name}
            </Button>
            <Button size="small" onClick={() => onKeep(name)}>
              Replace it with yours
            </Button>
          </div>
        </div>
      ))}
    </Flash>
  );
}

/** Moves a task, with its subtasks, to another sprint, or to the backlog. */
async function moveToSprint({ id, sprintId: from }: api.Task, to: string | null): Promise<api.Task> {
  if (to !== null) await api.addSprintTasks(to, { taskIds: [id] });
  else if (from !== null) await api.removeSprintTask(from, id);
  return api.getTask(id);
}

function changesOf(task: api.Task, fields: Fields) {
  const { budget: texts, sprintId: _moved, ...others } = fields;
  const { repositoryId, dependsOn, ...changes } = changedFields<Omit<Fields, 'budget' | 'sprintId'>>(task, {
    ...others,
    title: fields.title.trim(),
  });
  const budget = changedTaskBudget(taskBudgetTexts(task), texts);
  return {
    ...changes,
    ...(budget === undefined ? {} : { budget }),
    ...(repositoryId ? { repositoryId } : {}),
    ...(dependsOn && dependsOn.join() !== task.dependsOn.join() ? { dependsOn } : {}),
  };
}

function TitleAndDescription({ task, fields, set }: FieldsProps) {
  return (
    <>
      <TitleField instead="the description" value={fields.title} onChange={(title) => set({ title })} />
      <FormControl>
        <FormControl.Label>Description</FormControl.Label>
        <Textarea
          block
          rows={8}
          resize="vertical"
          maxLength={50_000}
          value={fields.description}
          onChange={(event) => set({ description: event.target.value })}
        />
        {task.status === 'in_progress' && (
          <FormControl.Caption>
            A run that has begun keeps the old title and description. To tell it something, send its agent a message.
          </FormControl.Caption>
        )}
      </FormControl>
    </>
  );
}

/** Shows fields for the agent, the repository, the sprint, the priority, the plan and the dependencies of the task. */
function Assignment({ task, fields, set }: FieldsProps) {
  const agents = useQuery(agentQueries.agentsOf(task.projectId));
  const repositories = useQuery(repositoryQueries.repositories(task.projectId));
  const sprints = useQuery(queries.sprints(task.projectId));
  return (
    <>
      <div className="fields">
        <SelectField
          label="Agent"
          emptyOption="No agent"
          value={fields.owner ?? ''}
          options={agents.data}
          onSelect={(owner) => set({ owner: owner === '' ? null : owner })}
        />
        <SelectField
          label="Repository"
          emptyOption={task.repositoryId === null ? 'Primary repository' : undefined}
          value={fields.repositoryId ?? ''}
          options={repositories.data}
          onSelect={(repositoryId) => set({ repositoryId: repositoryId === '' ? null : repositoryId, base: null })}
        />
        {task.parentId === null && (
          <SelectField
            label="Sprint"
            emptyOption="No sprint"
            value={fields.sprintId ?? ''}
            options={sprints.data?.filter((sprint) => isOpenSprint(sprint) || sprint.id === task.sprintId)}
            onSelect={(sprintId) => set({ sprintId: sprintId === '' ? null : sprintId })}
          />
        )}
        <PriorityField value={fields.priority} onSelect={(priority) => set({ priority })} />
        <PlanField value={fields.planFirst} onSelect={(planFirst) => set({ planFirst })} />
        <BaseField
          repositoryId={fields.repositoryId ?? undefined}
          value={fields.base ?? ''}
          onChange={(base) => set({ base: base.trim() === '' ? null : base.trim() })}
          disabled={task.branchName !== null}
        />
      </div>
      <DependencyField task={task} dependsOn={fields.dependsOn} onSelect={(dependsOn) => set({ dependsOn })} />
    </>
  );
}

/** Shows the tasks that a task depends on. Others are searched in the service, because a project may have thousands. */
function DependencyField(props: { task: api.Task; dependsOn: string[]; onSelect(ids: string[]): void }) {
  const { task, dependsOn, onSelect } = props;
  const [search, setSearch] = useState('');
  const text = usePaused(search.trim());
  const { data: related = [] } = useQuery(queries.relatedTasks(task));
  const { data: found = [] } = useQuery({ ...queries.taskSearch(task.projectId, text), enabled: text !== '' });
  const isKnown = (id: string) => [...related, ...found].some((each) => each.id === id);
  const { data: titles = [] } = useQuery({
    ...queries.titlesOf(
      task.projectId,
      dependsOn.filter((id) => !isKnown(id)),
    ),
    placeholderData: keepPreviousData,
  });
  const names = new Map([...titles, ...related, ...found].map(({ id, title }) => [id, title]));
  names.delete(task.id);
  return (
    <SearchPicker
      label="Depends on"
      selected={dependsOn}
      options={[...names].map(([id, name]) => ({ id, name }))}
      onSelect={onSelect}
      onSearch={setSearch}
    />
  );
}
