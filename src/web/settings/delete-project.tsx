import { Button } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import * as api from '../api.ts';
import { TextDialog } from '../forms/text-dialog.tsx';
import { notifyError } from '../frame/notices.tsx';

export function DeleteProject({ project }: { project: api.Project }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isConfirming, setConfirming] = useState(false);
  const remove = useMutation({
    mutationFn: () => api.deleteProject(project.id),
    onSuccess: async () => {
      await navigate('/projects');
      await client.invalidateQueries({ queryKey: ['projects'] });
    },
    onError: notifyError,
  });
  const onConfirm = async (text: string) => {
    if (text !== project.name) throw new Error('The name does not match. The project was not deleted.');
    await remove.mutateAsync();
  };
  return (
    <section className="box failure" aria-label="Delete project">
      <p>
        Permanently deletes the tasks, runs, sprints and chats of this project. Repositories, branches and pull requests
        on GitHub are kept.
      </p>
      <Button variant="danger" loading={remove.isPending} onClick={() => setConfirming(true)}>
        Delete project
      </Button>
      {isConfirming && (
        <TextDialog
          title="Delete project"
          label={`To confirm, enter the project name: ${project.name}`}
          about={null}
          isRequired
          onSubmit={onConfirm}
          onClose={() => setConfirming(false)}
        />
      )}
    </section>
  );
}
