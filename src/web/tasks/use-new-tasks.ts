import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import { mutateOnce } from '../forms/submit.ts';
import { useDraft } from '../forms/use-draft.ts';
import { notify } from '../frame/notices.tsx';
import { errorMessage } from '../live/errors.ts';
import { putTask } from '../live/put-task.ts';
import * as queries from '../live/queries.ts';
import { agentToPreselect, rememberAgent } from './last-agent.ts';
import { titlesFromList } from './titles-from-list.ts';

/** Maximum number of tasks that the service creates in one request. */
const maxTasks = 100;

export interface NewTaskFields {
  /** The title, or the pasted list of titles. */
  text: string;
  description: string;
  /** Null until the person selects an agent or none. */
  owner: string | null;
  repositoryId: string;
  sprintId: string;
  planFirst: boolean | null;
  issue: boolean;
}

const emptyFields: NewTaskFields = {
  text: '',
  description: '',
  owner: null,
  repositoryId: '',
  sprintId: '',
  planFirst: null,
  issue: false,
};

interface Props {
  projectId: string;
  isList: boolean;
  onClose(): void;
}

/** Manages the form for new tasks, and the requests that create and start them. */
export function useNewTasks({ projectId, isList, onClose }: Props) {
  const draft = useDraft(`${isList ? 'new tasks' : 'new task'} ${projectId}`, emptyFields);
  const agents = useQuery(queries.agentsOf(projectId));
  const [problem, setProblem] = useState('');
  const { value: drafted } = draft;
  const owner = drafted.owner ?? agentToPreselect(projectId, agents.data ?? [], localStorage);
  const fields = { ...drafted, owner };
  const titles = isList ? titlesFromList(fields.text) : [fields.text.trim()].filter((title) => title !== '');
  const close = () => {
    draft.clear();
    onClose();
  };
  const requests = { projectId, isList, titles, fields, onDone: close, onProblem: setProblem };
  const create = useCreation({ ...requests, isStarted: false });
  const createAndStart = useCreation({ ...requests, isStarted: true });
  const submit = (request: typeof create) => {
    if (create.isPending || createAndStart.isPending) return;
    if (titles.length === 0) return setProblem(isList ? 'Enter at least one title.' : 'Enter a title.');
    if (titles.length > maxTasks)
      return setProblem(`You can create up to ${maxTasks} tasks at a time. This list has ${titles.length}.`);
    if (request === createAndStart && fields.owner === '') return setProblem('Select an agent to start the task.');
    mutateOnce(request);
  };
  return {
    fields,
    set: (change: Partial<NewTaskFields>) => draft.set((before) => ({ ...before, ...change })),
    titles,
    problem,
    isCreating: create.isPending,
    isStarting: createAndStart.isPending,
    onSubmit: (event: Pick<FormEvent, 'preventDefault'>) => {
      event.preventDefault();
      submit(create);
    },
    onStart: () => submit(createAndStart),
    onDiscard: close,
  };
}

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
  return useMutation({
    mutationFn: async () => {
      const [first, ...others] = titles.map((title) => ({ title, ...detailsOf(fields) }));
      if (first === undefined) return [];
      if (!isList) return [await api.createTask(projectId, first)];
      return api.createTasks(projectId, { tasks: [first, ...others] });
    },
    onSuccess: async (created) => {
      for (const task of created) putTask(client, task);
      if (fields.owner !== '') rememberAgent(projectId, fields.owner);
      onDone();
      const name = created.length === 1 ? 'Task created' : `${plural(created.length, 'task')} created`;
      if (!isStarted) return notify(name, 'success');
      try {
        for (const { id } of created) putTask(client, await api.startTask(id));
        notify(`${name} and started`, 'success');
      } catch (error) {
        notify(`${name}, but not started. ${errorMessage(error)}`, 'danger');
      }
    },
    onError: (error) => onProblem(errorMessage(error)),
  });
}

/** Returns the details of a task except its title. Empty fields are left out. */
function detailsOf({ description, owner, repositoryId, sprintId, planFirst, issue }: Fields) {
  return {
    ...(owner === '' ? {} : { owner }),
    ...(repositoryId === '' ? {} : { repositoryId }),
    ...(sprintId === '' ? {} : { sprintId }),
    ...(description === '' ? {} : { description }),
    ...(planFirst === null ? {} : { planFirst }),
    ...(issue ? { issue } : {}),
  };
}
