import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import * as api from '../api.ts';
import { plural } from '../display/plural.ts';
import { mutateOnce } from '../forms/submit-once.ts';
import { notify } from '../frame/notices.tsx';
import { errorMessage } from '../live/errors.ts';
import { putTask } from '../live/put-task.ts';
import { titlesFromList } from './titles-from-list.ts';

/** Maximum number of tasks that the service creates in one request. */
const maxTasks = 100;

export interface NewTaskFields {
  /** The title, or the pasted list of titles. */
  text: string;
  description: string;
  owner: string;
  repositoryId: string;
  sprintId: string;
  planFirst: boolean | null;
  issue: boolean;
}

const emptyFields: NewTaskFields = {
  text: '',
  description: '',
  owner: '',
  repositoryId: '',
  sprintId: '',
  planFirst: null,
  issue: false,
};

/** Manages the form for new tasks, and the request that creates them. */
export function useNewTasks(props: { projectId: string; isList: boolean; onClose(): void }) {
  const { projectId, isList, onClose } = props;
  const client = useQueryClient();
  const [fields, setFields] = useState(emptyFields);
  const [problem, setProblem] = useState('');
  const titles = isList ? titlesFromList(fields.text) : [fields.text.trim()].filter((title) => title !== '');
  const create = useMutation({
    mutationFn: async () => {
      const [first, ...others] = titles.map((title) => ({ title, ...detailsOf(fields) }));
      if (first === undefined) return [];
      if (!isList) return [await api.createTask(projectId, first)];
      return api.createTasks(projectId, { tasks: [first, ...others] });
    },
    onSuccess: (created) => {
      for (const task of created) putTask(client, task);
      notify(created.length === 1 ? 'Task created' : `${plural(created.length, 'task')} created`, 'success');
      onClose();
    },
    onError: (error) => setProblem(errorMessage(error)),
  });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (titles.length === 0) return setProblem(isList ? 'Enter at least one title.' : 'Enter a title.');
    if (titles.length > maxTasks)
      return setProblem(`You can create up to ${maxTasks} tasks at a time. This list has ${titles.length}.`);
    mutateOnce(create);
  };
  const set = (change: Partial<NewTaskFields>) => setFields((before) => ({ ...before, ...change }));
  return { fields, set, titles, problem, isPending: create.isPending, onSubmit };
}

/** Returns the details of a task except its title. Empty fields are left out. */
function detailsOf({ description, owner, repositoryId, sprintId, planFirst, issue }: NewTaskFields) {
  return {
    ...(owner === '' ? {} : { owner }),
    ...(repositoryId === '' ? {} : { repositoryId }),
    ...(sprintId === '' ? {} : { sprintId }),
    ...(description === '' ? {} : { description }),
    ...(planFirst === null ? {} : { planFirst }),
    ...(issue ? { issue } : {}),
  };
}
