import { Button, Checkbox, Flash, FormControl, Textarea } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import type { RunBudgetKey } from '../../../domain/budget.ts';
import * as api from '../../api.ts';
import { plural } from '../../display/formats.ts';
import { TaskBudgetFields } from '../../forms/budget-fields.tsx';
import { type BudgetTexts, changedTaskBudget, taskBudgetTexts } from '../../forms/budgets.ts';
import { FormButtons, FormDialog, TitleField } from '../../forms/form-dialog.tsx';
import { SelectField } from '../../forms/select-field.tsx';
import { mutateOnce, refuseField } from '../../forms/submit.ts';
import { useDraft } from '../../forms/use-draft.ts';
import { focusNewTask } from '../../frame/keep-focus.ts';
import { notify } from '../../frame/notices.tsx';
import { errorMessage, isUnread } from '../../live/errors.ts';
import { putTask } from '../../live/put-task.ts';
import * as agentQueries from '../../live/queries/agents.ts';
import * as repositoryQueries from '../../live/queries/repositories.ts';
import * as queries from '../../live/queries.ts';
import { rememberAgent, useAgentsToChoose } from '../../projects/preselected-agent.ts';
import { isOpenSprint } from '../../sprints/is-open-sprint.ts';
import { BaseField } from './base-field.tsx';
import { PlanField, PriorityField } from './choice-fields.tsx';
import { titlesFromList } from './new-task-texts.ts';
import { TemplateField } from './template-field.tsx';

/** Creates one task with its details, or several from a list of titles. */
export function NewTaskDialog({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const [searchParams, setSearchParams] = useSearchParams();
  const isList = searchParams.get('new') === 'many';
  const [isChanged, setChanged] = useState(false);
  const toggle = () => {
    setChanged(true);
    setSearchParams((params) => {
      params.set('new', isList ? 'one' : 'many');
      return params;
    });
  };
  return (
    <FormDialog title={isList ? 'New tasks' : 'New task'} onClose={onClose} width="xlarge">
      <div className="stack">
        <div>
          <Button variant="link" onClick={toggle}>
            {isList ? 'Create a single task instead' : 'Paste a list of titles instead'}
          </Button>
        </div>
        <NewTaskForm
          key={String(isList)}
          projectId={projectId}
          isList={isList}
          takesFocus={isChanged}
          onClose={onClose}
        />
      </div>
    </FormDialog>
  );
}

interface FieldsProps {
  fields: NewTaskFields;
  set(change: Partial<NewTaskFields>): void;
}

/** Shows the fields of a new task, or of several. What people write is kept until it is sent or Cancel is pressed. */
function NewTaskForm(props: { projectId: string; isList: boolean; takesFocus: boolean; onClose(): void }) {
  const { projectId, isList, takesFocus } = props;
  const firstField = useRef<HTMLDivElement>(null);
  const onMissing = () => firstField.current?.querySelector<HTMLElement>('input, textarea')?.focus();
  useEffect(() => {
    if (takesFocus) firstField.current?.querySelector<HTMLElement>('input, textarea')?.focus();
  }, [takesFocus]);
  const form = useRef<HTMLFormElement>(null);
  /** Returns whether a field says that its value is wrong, and moves the focus there. */
  const isRefused = () => form.current !== null && refuseField(form.current);
  const tasks = useNewTasks({ ...props, onMissing, isRefused });
  const { fields, set, titles, problem, isCreating, isStarting, onSubmit, onStart, onDiscard, onStartOver } = tasks;
  const repositoryId = useRepositoryOf(projectId, fields);
  const repositories = useQuery(repositoryQueries.repositories(projectId));
  const createLabel = titles.length === 0 ? 'Create tasks' : `Create ${plural(titles.length, 'task')}`;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (isList) onSubmit(event);
    else onStart();
  };
  return (
    <form ref={form} className="stack" onSubmit={onSubmit} onKeyDown={onKeyDown}>
      {problem !== '' && (
        <Flash variant="danger" role="alert">
          {problem}
        </Flash>
      )}
      {onStartOver && (
        <p className="muted small">
          You wrote this before and have not sent it.{' '}
          <Button
            variant="link"
            onClick={() => {
              onStartOver();
              onMissing();
            }}
          >
            Start over
          </Button>
        </p>
      )}
      <div ref={firstField}>
        {isList ? (
          <FormControl required>
            <FormControl.Label>One title per line</FormControl.Label>
            <Textarea block rows={8} value={fields.text} onChange={(event) => set({ text: event.target.value })} />
            <FormControl.Caption>{plural(titles.length, 'task')}, listed in this order</FormControl.Caption>
          </FormControl>
        ) : (
          <TitleField instead="the description" value={fields.text} onChange={(text) => set({ text })} />
        )}
      </div>
      {!isList && (
        <>
          <Description fields={fields} set={set} />
          <TemplateField
            repositoryId={repositoryId}
            isUnknown={repositoryId === undefined && isUnread(repositories)}
            text={{ title: fields.text, description: fields.description }}
            onFill={({ title, description }) => set({ text: title, description })}
          />
        </>
      )}
      <Assignment projectId={projectId} fields={fields} set={set} />
      {!isList && (
        <details>
          <summary>Set a budget</summary>
          <TaskBudgetFields
            projectId={projectId}
            budget={fields.budget}
            onChange={(key, text) => set({ budget: { ...fields.budget, [key]: text } })}
          />
        </details>
      )}
      <FormControl>
        <Checkbox checked={fields.issue} onChange={(event) => set({ issue: event.target.checked })} />
        <FormControl.Label>
          {isList ? 'Create a GitHub issue for each task' : 'Create a GitHub issue'}
        </FormControl.Label>
      </FormControl>
      <FormButtons
        submit={isList ? createLabel : 'Create task'}
        isBusy={isCreating}
        isDisabled={isStarting}
        onCancel={onDiscard}
      >
        {!isList && (
          <Button loading={isStarting} disabled={isCreating} onClick={onStart} aria-keyshortcuts="Control+Enter">
            Create and start
          </Button>
        )}
      </FormButtons>
    </form>
  );
}

/** Returns the repository of a new task: the chosen one, or the primary one of the project once that is known. */
function useRepositoryOf(projectId: string, fields: Pick<NewTaskFields, 'repositoryId'>): string | undefined {
  const { data: repositories } = useQuery(repositoryQueries.repositories(projectId));
  return fields.repositoryId || repositories?.find(({ isPrimary }) => isPrimary)?.id;
}

function Description({ fields, set }: FieldsProps) {
  return (
    <FormControl>
      <FormControl.Label>Description</FormControl.Label>
      <Textarea
        block
        rows={6}
        resize="vertical"
        maxLength={50_000}
        value={fields.description}
        onChange={(event) => set({ description: event.target.value })}
      />
      <FormControl.Caption>
        Describe the result you want and how to check it. Markdown is supported.
        <span className="with-keyboard"> Press Ctrl+Enter to create and start the task.</span>
      </FormControl.Caption>
    </FormControl>
  );
}

/** Shows fields for the agent, the repository, the sprint, the priority and the plan of the task. */
function Assignment({ projectId, fields, set }: FieldsProps & { projectId: string }) {
  const agents = useQuery(agentQueries.agentsOf(projectId));
  const repositories = useQuery(repositoryQueries.repositories(projectId));
  const sprints = useQuery(queries.sprints(projectId));
  return (
    <div className="fields">
      <SelectField
        label="Agent"
        emptyOption={isUnread(agents) ? 'Could not be loaded' : agents.isPending ? 'Loading agents…' : 'No agent'}
        value={fields.owner ?? ''}
        options={agents.data}
        onSelect={(owner) => set({ owner })}
      />
      <SelectField
        label="Repository"
        emptyOption="Primary repository"
        value={fields.repositoryId}
        options={repositories.data}
        onSelect={(repositoryId) => set({ repositoryId, base: '' })}
      />
      <SelectField
        label="Sprint"
        emptyOption="No sprint"
        value={fields.sprintId}
        options={sprints.data?.filter(isOpenSprint)}
        onSelect={(sprintId) => set({ sprintId })}
      />
      <PriorityField value={fields.priority} onSelect={(priority) => set({ priority })} />
      <PlanField value={fields.planFirst} onSelect={(planFirst) => set({ planFirst })} />
      <BaseField
        repositoryId={useRepositoryOf(projectId, fields)}
        value={fields.base}
        onChange={(base) => set({ base })}
      />
    </div>
  );
}

/** Maximum number of tasks that the service creates in one request. */
const maxTasks = 100;

interface NewTaskFields {
  /** The title, or the pasted list of titles. */
  text: string;
  description: string;
  /** Null until the person selects an agent or none. */
  owner: string | null;
  repositoryId: string;
  sprintId: string;
  priority: api.Task['priority'];
  planFirst: boolean | null;
  base: string;
  budget: BudgetTexts<RunBudgetKey>;
  issue: boolean;
}

const emptyFields: NewTaskFields = {
  text: '',
  description: '',
  owner: null,
  repositoryId: '',
  sprintId: '',
  priority: 'normal',
  planFirst: null,
  base: '',
  budget: taskBudgetTexts({ budget: null }),
  issue: false,
};

interface Props {
  projectId: string;
  isList: boolean;
  /** The title is missing. */
  onMissing(): void;
  isRefused(): boolean;
  onClose(): void;
}

/** Manages the form for new tasks, and the requests that create and start them. */
function useNewTasks({ projectId, isList, onMissing, isRefused, onClose }: Props) {
  const draft = useDraft(`${isList ? 'new tasks' : 'new task'} ${projectId}`, emptyFields);
  const { agents, preselected, isMissing } = useAgentsToChoose(projectId);
  const isLoading = agents === undefined && !isMissing;
  const [problem, setProblem] = useState('');
  /** What the person asked for while the agents were still being loaded. Without them, the task would get no agent. */
  const [asked, setAsked] = useState<'creation' | 'start'>();
  const { value: drafted } = draft;
  const owner = drafted.owner ?? preselected;
  const fields = { ...drafted, owner };
  const titles = isList ? titlesFromList(fields.text) : [fields.text.trim()].filter((title) => title !== '');
  const close = () => {
    draft.clear();
    onClose();
  };
  const requests = { projectId, isList, titles, fields, onDone: close, onProblem: setProblem };
  const create = useCreation({ ...requests, isStarted: false });
  const createAndStart = useCreation({ ...requests, isStarted: true });
  const waits = drafted.owner === null && isLoading;
  const lackOfAgent = isMissing ? notLoaded : noAgent;
  const isBusy = create.isPending || createAndStart.isPending;
  const submit = (wanted: 'creation' | 'start') => {
    if (isBusy) return;
    setAsked(undefined);
    setProblem('');
    const wrong = problemOf(titles, isList);
    if (titles.length === 0) onMissing();
    if (wrong !== undefined) return setProblem(wrong);
    if (isRefused()) return;
    if (waits) return setAsked(wanted);
    if (wanted === 'start' && owner === '') return setProblem(lackOfAgent);
    mutateOnce(wanted === 'start' ? createAndStart : create);
  };
  useEffect(() => {
    if (asked !== undefined && !waits) submit(asked);
  });
  return {
    fields,
    set: (change: Partial<NewTaskFields>) => draft.set((before) => ({ ...before, ...change })),
    titles,
    problem,
    isCreating: create.isPending || asked === 'creation',
    isStarting: createAndStart.isPending || asked === 'start',
    onSubmit: (event: Pick<FormEvent, 'preventDefault'>) => {
      event.preventDefault();
      submit('creation');
    },
    onStart: () => submit('start'),
    onDiscard: close,
    /** Empties the form, if it began with what was written before. */
    onStartOver: draft.isRestored ? draft.clear : undefined,
  };
}

function problemOf(titles: string[], isList: boolean): string | undefined {
  if (titles.length === 0) return isList ? 'Enter at least one title.' : 'Enter a title.';
  if (titles.length <= maxTasks) return undefined;
  return `You can create up to ${maxTasks} tasks at a time. This list has ${titles.length}.`;
}

const noAgent = 'Select an agent to start the task.';
const notLoaded = 'The agents could not be loaded, so none can start the task. Check your connection and try again.';

type Fields = NewTaskFields & { owner: string };

function useCreation(props: {
  projectId: string;
  isList: boolean;
  titles: string[];
  fields: Fields;
  isStarted: boolean;
  onDone(): void;
  onProblem(problem: string): void;
}) {
  const { projectId, isList, titles, fields, isStarted, onDone, onProblem } = props;
  const client = useQueryClient();
  const navigate = useNavigate();
  /** On a phone, the card of a new task may be far away. */
  const opening = ([task, ...others]: api.Task[]) => {
    if (task === undefined || others.length > 0) return undefined;
    const to = `/tasks/${task.id}`;
    return { name: 'Open', to, act: () => void navigate(to) };
  };
  return useMutation({
    mutationFn: async () => {
      const [first, ...others] = titles.map((title) => ({ title, ...detailsOf(fields) }));
      if (first === undefined) return [];
      const budget = changedTaskBudget(emptyFields.budget, fields.budget) ?? undefined;
      if (!isList) return [await api.createTask(projectId, { ...first, ...(budget === undefined ? {} : { budget }) })];
      return api.createTasks(projectId, { tasks: [first, ...others] });
    },
    onSuccess: async (created) => {
      for (const task of created) putTask(client, task);
      if (fields.owner !== '') rememberAgent(projectId, fields.owner);
      onDone();
      if (created[0] !== undefined) focusNewTask(created[0].id);
      const name = created.length === 1 ? 'Task created' : `${plural(created.length, 'task')} created`;
      if (!isStarted) return notify(name, 'success', opening(created));
      try {
        for (const { id } of created) putTask(client, await api.startTask(id));
        notify(`${name} and started`, 'success', opening(created));
      } catch (error) {
        notify(`${name}, but not started. ${errorMessage(error)}`, 'danger');
      }
    },
    onError: (error) => onProblem(errorMessage(error)),
  });
}

/** Returns the details of a task except its title. Empty fields are left out. */
function detailsOf({ description, owner, repositoryId, sprintId, priority, planFirst, base, issue }: Fields) {
  return {
    ...(owner === '' ? {} : { owner }),
    ...(repositoryId === '' ? {} : { repositoryId }),
    ...(sprintId === '' ? {} : { sprintId }),
    ...(description === '' ? {} : { description }),
    ...(priority === 'normal' ? {} : { priority }),
    ...(planFirst === null ? {} : { planFirst }),
    ...(base.trim() === '' ? {} : { base: base.trim() }),
    ...(issue ? { issue } : {}),
  };
}
