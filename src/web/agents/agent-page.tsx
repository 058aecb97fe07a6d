import { Button, Flash, Heading, Label } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Link, useParams } from 'react-router';
import * as api from '../api.ts';
import { Facts } from '../display/fact-list.tsx';
import { counted } from '../display/plural.ts';
import { Loading, Shown } from '../display/query-result.tsx';
import { Section } from '../display/section.tsx';
import { When } from '../display/times.tsx';
import { notify, notifyError } from '../frame/notices.tsx';
import { useTitle } from '../frame/use-page-title.ts';
import * as q from '../live/queries.ts';
import { AgentForm } from './agent-form-dialog.tsx';
import { Health } from './agent-health.tsx';
import { AgentVersions, Evolve } from './agent-versions.tsx';

const Weeks = lazy(async () => ({ default: (await import('../display/charts.tsx')).Weeks }));

export function AgentPage() {
  const { agentId = '' } = useParams();
  const asked = useQuery(q.agent(agentId));
  useTitle(asked.data?.name, 'Agents');
  return (
    <div className="narrow stack">
      <Shown of={asked} isPage>
        {(agent) => <Agent key={agent.id} agent={agent} />}
      </Shown>
    </div>
  );
}

function Agent({ agent }: { agent: api.Agent }) {
  const { projectId = '' } = useParams();
  const client = useQueryClient();
  const health = useQuery(q.agentsHealth());
  const [isEditing, setEditing] = useState(false);
  const reset = useMutation({
    mutationFn: () => api.postAgentsByIdHealthReset(agent.id),
    onSuccess: () => {
      notify('The count of failures begins anew.', 'success');
      return client.invalidateQueries({ queryKey: ['health'] });
    },
    onError: notifyError,
  });
  return (
    <>
      <div className="row wrap-row">
        <Heading as="h1" variant="medium" className="wrap">
          <bdi>{agent.name}</bdi>
        </Heading>
        <Label variant={agent.status === 'busy' ? 'attention' : 'secondary'}>{agent.status}</Label>
        <Health health={health.data?.find((h) => h.agentId === agent.id)} />
        <span className="grow" />
        <Button loading={reset.isPending} onClick={() => reset.mutate()}>
          Reset health
        </Button>
        {agent.status !== 'offline' && (
          <>
            <Button onClick={() => setEditing(true)}>Edit</Button>
            <Evolve agent={agent} />
          </>
        )}
      </div>
      {isEditing && <AgentForm agent={agent} onClose={() => setEditing(false)} />}
      {agent.status === 'offline' && <Flash>An earlier version: it takes no more tasks.</Flash>}
      <p className="muted">
        {agent.team !== '' && `${agent.team} · `}model {agent.model === '' ? 'not set' : agent.model} · version{' '}
        {agent.version} · made <When at={agent.createdAt} />
      </p>
      {agent.description !== '' && <p className="wrap">{agent.description}</p>}
      {agent.currentTaskId && (
        <p>
          Works on <Link to={`/tasks/${agent.currentTaskId}?tab=runs`}>a task now</Link>.
        </p>
      )}
      <Performance agentId={agent.id} />
      <Skills agentId={agent.id} />
      <Suggestions agentId={agent.id} />
      <AgentVersions projectId={projectId} agent={agent} />
    </>
  );
}

function Performance({ agentId }: { agentId: string }) {
  const asked = useQuery(q.performance(agentId));
  return (
    <Section title="Performance">
      <Shown of={asked} rows={2}>
        {({ metrics, weeks = [] }) => (
          <>
            <Facts
              of={{
                Tasks: metrics.totalTasks,
                Done: metrics.completedTasks,
                Failed: metrics.failedTasks,
                Success:
                  metrics.completedTasks + metrics.failedTasks === 0
                    ? '–'
                    : `${Math.round(metrics.successRate * 100)} %`,
                'From start to done': metrics.averageCompletionTime,
                'Pull requests': metrics.prsCreated,
                'Lines merged': metrics.linesOfCodeWritten.toLocaleString(),
              }}
            />
            {weeks.some((w) => w.succeeded + w.failed > 0) && (
              <Suspense fallback={<Loading rows={3} />}>
                <Weeks weeks={weeks} />
              </Suspense>
            )}
          </>
        )}
      </Shown>
    </Section>
  );
}

function Skills({ agentId }: { agentId: string }) {
  const asked = useQuery(q.skills(agentId));
  return (
    <Section title="Skills">
      <Shown of={asked} rows={1}>
        {(skills) =>
          skills.length === 0 ? (
            <p className="muted">They come with merged work.</p>
          ) : (
            <ul className="row wrap-row">
              {skills.map(({ id, name, proficiency }) => (
                <li key={id}>
                  <Label>
                    {name}: {proficiency}
                  </Label>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Section>
  );
}

function Suggestions({ agentId }: { agentId: string }) {
  const asked = useQuery(q.suggestions(agentId));
  return (
    <Section title="Suggestions">
      <Shown of={asked} rows={1}>
        {({ suggestions }) =>
          suggestions.length === 0 ? (
            <p className="muted">None. They come from recorded failures only.</p>
          ) : (
            <ul className="stack">
              {suggestions.map(({ area, suggestion, priority, evidence }) => (
                <li key={`${area} ${suggestion}`}>
                  <Label variant={priority === 'high' ? 'danger' : priority === 'medium' ? 'attention' : 'secondary'}>
                    {priority}
                  </Label>{' '}
                  <span className="strong">{area}</span> <span className="wrap">{suggestion}</span>
                  <details>
                    <summary>Evidence: {counted(evidence.length, 'run')}</summary>
                    <ul>
                      {evidence.map((runId) => (
                        <li key={runId}>
                          <Evidence runId={runId} />
                        </li>
                      ))}
                    </ul>
                  </details>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Section>
  );
}

function Evidence({ runId }: { runId: string }) {
  const { data } = useQuery(q.run(runId));
  if (data === undefined) return <code>{runId}</code>;
  return (
    <Link to={`/tasks/${data.taskId}?tab=runs&run=${data.id}`} className="wrap">
      {data.kind}, <When at={data.createdAt} />: {data.failure?.message ?? data.status}
    </Link>
  );
}
