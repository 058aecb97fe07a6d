import { Flash, FormControl, Textarea, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { FormDialog, FormEnd } from '../forms/form-dialog.tsx';
import { Several } from '../forms/search-picker.tsx';
import { Chosen } from '../forms/select-field.tsx';
import { submitting } from '../forms/submit-once.ts';
import { putTask } from '../live/project-events.ts';
import * as q from '../live/queries.ts';
import { explain } from '../live/query-client.ts';

/** Changes what a task says and who does it; only what was changed is sent. */
export function EditTask({ task: shown, onClose }: { task: api.Task; onClose(): void }) {
  // As it was when the editing began: what others change meanwhile is not sent back as it was.
  const [task] = useState(shown);
  const client = useQueryClient();
  const agents = useQuery(q.agentsOf(task.projectId));
  const repositories = useQuery(q.repositories(task.projectId));
  const others = useQuery(q.tasks(task.projectId));
  const [now, setNow] = useState({
    title: task.title,
    description: task.description,
    owner: task.owner ?? '',
    repositoryId: task.repositoryId ?? '',
    dependsOn: task.dependsOn,
  });
  const set = (change: Partial<typeof now>) => setNow((before) => ({ ...before, ...change }));
  const save = useMutation({
    mutationFn: () => {
      const { title, description, owner, repositoryId, dependsOn } = now;
      return api.patchTasksById(task.id, {
        ...(title.trim() === task.title ? {} : { title: title.trim() }),
        ...(description === task.description ? {} : { description }),
        ...(owner === (task.owner ?? '') ? {} : { owner: owner === '' ? null : owner }),
        ...(repositoryId === (task.repositoryId ?? '') || repositoryId === '' ? {} : { repositoryId }),
        ...(dependsOn.join() === task.dependsOn.join() ? {} : { dependsOn }),
      });
    },
    onSuccess: (saved) => {
      putTask(client, saved);
      onClose();
    },
  });
  const send = submitting(save);
  return (
    <FormDialog title="Edit the task" onClose={onClose} width="xlarge">
      <form className="stack" onSubmit={send}>
        {save.error && <Flash variant="danger">{explain(save.error)}</Flash>}
        <FormControl required>
          <FormControl.Label>Title</FormControl.Label>
          <TextInput block maxLength={200} value={now.title} onChange={(event) => set({ title: event.target.value })} />
        </FormControl>
        <FormControl>
          <FormControl.Label>Description</FormControl.Label>
          <Textarea
            block
            rows={8}
            resize="vertical"
            maxLength={50_000}
            value={now.description}
            onChange={(event) => set({ description: event.target.value })}
          />
        </FormControl>
        <div className="fields">
          <Chosen
            label="Agent"
            none="No agent"
            value={now.owner}
            options={agents.data}
            onChosen={(owner) => set({ owner })}
          />
          <Chosen
            label="Repository"
            none={task.repositoryId === null ? 'The primary one' : undefined}
            value={now.repositoryId}
            options={repositories.data}
            onChosen={(repositoryId) => set({ repositoryId })}
          />
        </div>
        <Several
          label="Depends on"
          chosen={now.dependsOn}
          options={(others.data ?? []).filter((t) => t.id !== task.id).map((t) => ({ id: t.id, name: t.title }))}
          onChosen={(dependsOn) => set({ dependsOn })}
        />
        <FormEnd act="Save" isBusy={save.isPending} onClose={onClose} />
      </form>
    </FormDialog>
  );
}
