import { Flash, FormControl, Textarea, TextInput } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { changedOf } from '../forms/changed-fields.ts';
import { FormDialog, FormEnd } from '../forms/form-dialog.tsx';
import { submitting } from '../forms/submit-once.ts';
import { explain } from '../live/query-client.ts';

type Fields = Pick<api.Agent, 'name' | 'team' | 'description' | 'model' | 'systemPrompt'>;

const none: Fields = { name: '', team: '', description: '', model: '', systemPrompt: '' };

/** Makes an agent, or changes the one that is given; of that only what was changed is sent. */
export function AgentForm({ agent, onClose }: { agent?: api.Agent; onClose(): void }) {
  const client = useQueryClient();
  // As it was when the editing began: what others change meanwhile is not sent back as it was.
  const [from] = useState<Fields>(agent ?? none);
  const [given, setGiven] = useState<Fields>(() => ({
    name: from.name,
    team: from.team,
    description: from.description,
    model: from.model,
    systemPrompt: from.systemPrompt,
  }));
  const set = (change: Partial<Fields>) => setGiven((now) => ({ ...now, ...change }));
  const save = useMutation({
    mutationFn: () =>
      agent === undefined
        ? api.postAgents({ ...given, name: given.name.trim() })
        : api.patchAgentsById(agent.id, changedOf(from, given)),
    onSuccess: async () => {
      for (const what of ['agents', 'agent']) await client.invalidateQueries({ queryKey: [what] });
      onClose();
    },
  });
  const send = submitting(save);
  return (
    <FormDialog title={agent === undefined ? 'New agent' : 'Edit the agent'} onClose={onClose} width="large">
      <form className="stack" onSubmit={send}>
        {save.error && <Flash variant="danger">{explain(save.error)}</Flash>}
        <p className="muted">
          {agent === undefined
            ? 'It is yours: only you can change it; your projects can use it.'
            : 'From its next run on. To compare a new prompt with this one, evolve it instead.'}
        </p>
        <FormControl required>
          <FormControl.Label>Name</FormControl.Label>
          <TextInput block maxLength={200} value={given.name} onChange={(event) => set({ name: event.target.value })} />
        </FormControl>
        <div className="fields">
          <FormControl>
            <FormControl.Label>Team</FormControl.Label>
            <TextInput block value={given.team} onChange={(event) => set({ team: event.target.value })} />
          </FormControl>
          <FormControl>
            <FormControl.Label>Model</FormControl.Label>
            <TextInput block value={given.model} onChange={(event) => set({ model: event.target.value })} />
            <FormControl.Caption>Empty: the one of the service</FormControl.Caption>
          </FormControl>
        </div>
        <FormControl>
          <FormControl.Label>Description</FormControl.Label>
          <TextInput block value={given.description} onChange={(event) => set({ description: event.target.value })} />
        </FormControl>
        <FormControl>
          <FormControl.Label>System prompt</FormControl.Label>
          <Textarea
            block
            rows={6}
            value={given.systemPrompt}
            onChange={(event) => set({ systemPrompt: event.target.value })}
          />
        </FormControl>
        <FormEnd act={agent === undefined ? 'Make the agent' : 'Save'} isBusy={save.isPending} onClose={onClose} />
      </form>
    </FormDialog>
  );
}
