import { Button, Flash, FormControl, Heading, Textarea } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import * as api from '../api.ts';
import { counted } from '../display/plural.ts';
import { FormDialog, FormEnd } from '../forms/form-dialog.tsx';
import { submitting } from '../forms/submit-once.ts';
import * as q from '../live/queries.ts';
import { explain } from '../live/query-client.ts';

/** A version beside the one before it: what it is told, and how it did. */
export function AgentVersions({ projectId, agent }: { projectId: string; agent: api.Agent }) {
  const before = useQuery({ ...q.agent(agent.previousVersionId ?? ''), enabled: agent.previousVersionId !== null });
  return (
    <section className="box" aria-label="Versions">
      <Heading as="h2" variant="small">
        What it is told
      </Heading>
      <div className="versions">
        {before.data && <Version agent={before.data} link={`/projects/${projectId}/agents/${before.data.id}`} />}
        <Version agent={agent} />
      </div>
    </section>
  );
}

function Version({ agent, link }: { agent: api.Agent; link?: string }) {
  const { data } = useQuery(q.performance(agent.id));
  return (
    <div>
      <p className="strong">
        {link === undefined ? `Version ${agent.version}` : <Link to={link}>Version {agent.version}</Link>}
        {data && (
          <span className="muted">
            {' '}
            · {counted(data.metrics.totalTasks, 'task')}, {Math.round(data.metrics.successRate * 100)} % success
          </span>
        )}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section className="prompt" tabIndex={0} aria-label={`System prompt of version ${agent.version}`}>
        <pre className="wrap">{agent.systemPrompt === '' ? '(no system prompt)' : agent.systemPrompt}</pre>
      </section>
    </div>
  );
}

/** Makes the next version, by improvements in words or by a whole new prompt. */
export function Evolve({ agent }: { agent: api.Agent }) {
  const { projectId = '' } = useParams();
  const client = useQueryClient();
  const go = useNavigate();
  const suggestions = useQuery(q.suggestions(agent.id));
  const [isOpen, setOpen] = useState(false);
  const [improvements, setImprovements] = useState('');
  const [prompt, setPrompt] = useState(agent.systemPrompt);
  const evolve = useMutation({
    mutationFn: () => {
      const lines = improvements.split('\n').filter((line) => line.trim() !== '');
      return api.postAgentsByIdEvolve(agent.id, {
        ...(lines.length > 0 ? { improvements: lines } : {}),
        ...(prompt === agent.systemPrompt ? {} : { newSystemPrompt: prompt }),
      });
    },
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ['agents'] });
      await client.invalidateQueries({ queryKey: ['agent'] });
      setOpen(false);
      await go(`/projects/${projectId}/agents/${made.id}`);
    },
  });
  const open = () => {
    setImprovements((suggestions.data?.suggestions ?? []).map((s) => s.suggestion).join('\n'));
    setOpen(true);
  };
  const send = submitting(evolve);
  return (
    <>
      <Button variant="primary" onClick={open}>
        Evolve
      </Button>
      {isOpen && (
        <FormDialog
          title={`Version ${agent.version + 1} of ${agent.name}`}
          onClose={() => setOpen(false)}
          width="xlarge"
        >
          <form className="stack" onSubmit={send}>
            {evolve.error && <Flash variant="danger">{explain(evolve.error)}</Flash>}
            <FormControl>
              <FormControl.Label>Improvements, one a line</FormControl.Label>
              <Textarea block rows={4} value={improvements} onChange={(event) => setImprovements(event.target.value)} />
              <FormControl.Caption>They are added to the system prompt as a list.</FormControl.Caption>
            </FormControl>
            <FormControl>
              <FormControl.Label>System prompt</FormControl.Label>
              <Textarea block rows={8} value={prompt} onChange={(event) => setPrompt(event.target.value)} />
            </FormControl>
            <p className="muted">The tasks that are not done move to the new version; this one stays readable.</p>
            <FormEnd act="Make the version" isBusy={evolve.isPending} onClose={() => setOpen(false)} />
          </form>
        </FormDialog>
      )}
    </>
  );
}
