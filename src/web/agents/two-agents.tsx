import { Button } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'react-router';
import type { Agent, AgentPerformance, AgentSkill } from '../api.ts';
import { agentCost, formatNumber } from '../display/formats.ts';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/sections.tsx';
import { useMay } from '../forms/may.tsx';
import { TextChanges } from '../forms/text-changes.tsx';
import * as agentQueries from '../live/queries/agents.ts';
import * as queries from '../live/queries.ts';
import { TrialList } from '../trials/trial-result.tsx';
import { TryDialog } from '../trials/try-dialog.tsx';
import { completionText, costDays, effortName, successText } from './agent-texts.ts';

/** Shows the settings and figures of two agents side by side, and what differs in their prompts. */
export function TwoAgents({ projectId, ids: [one, other] }: { projectId: string; ids: [string, string] }) {
  const [first, second] = [useQuery(agentQueries.agent(one)), useQuery(agentQueries.agent(other))];
  return (
    <Section title="Comparison">
      <QueryResult query={first} rows={4}>
        {(a) => (
          <QueryResult query={second} rows={4}>
            {(b) => <Columns projectId={projectId} agents={[a, b]} />}
          </QueryResult>
        )}
      </QueryResult>
    </Section>
  );
}

function Columns({ projectId, agents: [a, b] }: { projectId: string; agents: [Agent, Agent] }) {
  const spend = useQuery(queries.spend(projectId, costDays));
  const figures = [useFigures(a.id), useFigures(b.id)] as const;
  const cost = ({ id }: Agent) => (spend.data === undefined ? '' : agentCost(spend.data, id));
  const row = (label: string, show: (agent: Agent, at: 0 | 1) => ReactNode) => (
    <tr key={label}>
      <th scope="row">{label}</th>
      <td>{show(a, 0)}</td>
      <td>{show(b, 1)}</td>
    </tr>
  );
  const figure = (label: string, show: (metrics: AgentPerformance['metrics']) => ReactNode) =>
    row(label, (_agent, at) => figures[at].metrics && show(figures[at].metrics));
  return (
    <div className="stack">
      <TrialsOfBoth projectId={projectId} agents={[a, b]} />
      <h3 className="strong">Settings and figures</h3>
      <p className="muted small">The two do not work on the same tasks, so these do not say which one is better.</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard */}
      <section className="table-frame" tabIndex={0} aria-label="Both agents">
        <table className="page-table two-columns">
          <thead>
            <tr>
              <td />
              {[a, b].map((agent) => (
                <th key={agent.id} scope="col">
                  <Link to={`/projects/${projectId}/agents/${agent.id}`}>
                    <bdi>{agent.name}</bdi>
                  </Link>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {row('Model', ({ model }) => (model === '' ? 'Default of the service' : model))}
            {row('Reasoning effort', ({ reasoningEffort }) => effortName(reasoningEffort))}
            {row('Maximum answer length', ({ maxOutputTokens }) =>
              maxOutputTokens === null ? "Model server's default" : `${formatNumber(maxOutputTokens)} tokens`,
            )}
            {row('Version', ({ version }) => version)}
            {figure('Success rate', successText)}
            {figure('Tasks done', ({ completedTasks }) => completedTasks)}
            {figure('Tasks whose last run failed', ({ failedTasks }) => failedTasks)}
            {figure('Average time from start to done', completionText)}
            {row(`Cost, last ${costDays} days`, cost)}
            {figure('Pull requests', ({ prsCreated }) => prsCreated)}
            {figure('Lines merged', ({ linesOfCodeWritten }) => formatNumber(linesOfCodeWritten))}
            {row('Skills', (_agent, at) => skillsText(figures[at].skills))}
          </tbody>
        </table>
      </section>
      <h3 className="strong">System prompts</h3>
      <p className="muted small">
        Lines with − are only in {a.name}, lines with + only in {b.name}.
      </p>
      <TextChanges before={a.systemPrompt} after={b.systemPrompt} label="Differences of the system prompts" />
    </div>
  );
}

/** Shows the trials in which both made the same changes, and lets admins start one. */
function TrialsOfBoth({ projectId, agents: [a, b] }: { projectId: string; agents: [Agent, Agent] }) {
  const query = useQuery(agentQueries.trials(a.id));
  const [isOpen, setOpen] = useState(false);
  const mayTry = useMay('admin');
  return (
    <div className="stack">
      <h3 className="strong" ref={useScrollTo('#trials')}>
        Trials of both
      </h3>
      <p className="muted">
        A trial says which of the two is better, and at what price: both make the same earlier changes of a repository
        again.{!mayTry && ' Admins of the project can start one.'}
      </p>
      <QueryResult query={query} rows={2}>
        {(trials) => {
          const ofBoth = trials.filter(({ agentId, against }) =>
            [a, b].every(({ id }) => id === agentId || id === against?.agentId),
          );
          return ofBoth.length === 0 ? null : <TrialList trials={ofBoth} projectId={projectId} />;
        }}
      </QueryResult>
      {mayTry && (
        <div className="row">
          <Button onClick={() => setOpen(true)}>Start a trial of both</Button>
        </div>
      )}
      {isOpen && <TryDialog projectId={projectId} agent={a} against={b.id} onClose={() => setOpen(false)} />}
    </div>
  );
}

/** Scrolls once to a heading that the address names: the browser looked for it before it was there. */
function useScrollTo(hash: string) {
  const isWanted = useLocation().hash === hash;
  const element = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (isWanted) element.current?.scrollIntoView();
  }, [isWanted]);
  return element;
}

function useFigures(id: string) {
  const { data: performance } = useQuery(agentQueries.performance(id));
  const { data: skills } = useQuery(agentQueries.skills(id));
  return { metrics: performance?.metrics, skills };
}

function skillsText(skills: AgentSkill[] | undefined): string {
  if (skills === undefined) return '';
  return skills.length === 0 ? 'None yet' : skills.map(({ name, proficiency }) => `${name}: ${proficiency}`).join(', ');
}
