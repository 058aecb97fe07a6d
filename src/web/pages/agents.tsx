import { Button, Flash, FormControl, Heading, Label, Textarea, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import * as api from '../api.ts';
import { explain } from '../client.ts';
import { Shown } from '../parts/empty.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Health } from '../parts/health.tsx';
import { PageHead } from '../parts/page-head.tsx';
import * as q from '../queries.ts';
import { submitting } from '../submitting.ts';
import { useTitle } from '../use-title.ts';

/** Who works in the project, team by team. */
export function AgentsPage() {
  useTitle('Agents');
  const { projectId = '' } = useParams();
  const [query, setQuery] = useSearchParams();
  const asked = useQuery(q.agentsOf(projectId));
  const health = useQuery(q.agentsHealth());
  return (
    <div className="narrow">
      <PageHead title="Agents">
        <Button variant="primary" onClick={() => setQuery({ new: 'one' })}>
          New agent
        </Button>
      </PageHead>
      <Shown of={asked}>
        {(agents) =>
          [...new Set(agents.map((a) => a.team))].map((team) => (
            <section key={team} aria-label={team === '' ? 'No team' : team}>
              <Heading as="h2" variant="small">
                {team === '' ? 'No team' : team}
              </Heading>
              <ul className="list">
                {agents
                  .filter((a) => a.team === team)
                  .map(({ id, name, status }) => (
                    <li key={id} className="list-item">
                      <Link to={`/projects/${projectId}/agents/${id}`} className="strong wrap">
                        <bdi>{name}</bdi>
                      </Link>
                      <Label variant={status === 'busy' ? 'attention' : 'secondary'}>{status}</Label>
                      <Health health={health.data?.find((h) => h.agentId === id)} />
                    </li>
                  ))}
              </ul>
            </section>
          ))
        }
      </Shown>
      {query.get('new') !== null && <NewAgent projectId={projectId} onClose={() => setQuery({})} />}
    </div>
  );
}

function NewAgent({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const client = useQueryClient();
  const [given, setGiven] = useState({ name: '', team: '', description: '', model: '', systemPrompt: '' });
  const set = (change: Partial<typeof given>) => setGiven((now) => ({ ...now, ...change }));
  const make = useMutation({
    mutationFn: () => api.postAgents({ ...given, name: given.name.trim() }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['agents', projectId] });
      onClose();
    },
  });
  const send = submitting(make);
  return (
    <FormDialog title="New agent" onClose={onClose} width="large">
      <form className="stack" onSubmit={send}>
        {make.error && <Flash variant="danger">{explain(make.error)}</Flash>}
        <p className="muted">It is yours: only you can change it; your projects can use it.</p>
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
        <div className="row end">
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" variant="primary" loading={make.isPending}>
            Make the agent
          </Button>
        </div>
      </form>
    </FormDialog>
  );
}
