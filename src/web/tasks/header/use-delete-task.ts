import { useConfirm } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import * as api from '../../api.ts';
import { notifyError } from '../../frame/notices.tsx';
import { dropTask } from '../../live/put-task.ts';

/** Returns a function that deletes a task, if the person confirms that, and then leads to the board. */
export function useDeleteTask(task: api.Task): () => Promise<void> {
  const confirm = useConfirm();
  const navigate = useNavigate();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.deleteTask(task.id),
    onSuccess: async () => {
      await navigate(`/projects/${task.projectId}`);
      dropTask(client, task.projectId, task.id);
    },
    onError: notifyError,
  });
  return async () => {
    const isConfirmed = await confirm({
      title: 'Delete this task?',
      content:
        'The task, its runs and its chat are permanently deleted. Its open pull requests are closed, and its branch is deleted unless somebody else pushed to it.',
      confirmButtonContent: 'Delete task',
      confirmButtonType: 'danger',
    });
    if (isConfirmed) remove.mutate();
  };
}
