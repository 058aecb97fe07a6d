import { Button, Label, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import * as api from '../api.ts';
import { formatCost, plural } from '../display/formats.ts';
import { revealHidden } from '../display/hidden-characters.ts';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { useMay } from '../forms/may.tsx';
import { notifyError } from '../frame/notices.tsx';
import * as queries from '../live/queries.ts';
import { solvedText, statusNames, verdictText } from './trial-texts.ts';
import { TryDialog } from './try-dialog.tsx';

/** Shows what an agent solved of earlier changes of the project's repositories, and lets admins try it again. */
export function Trials({ projectId, agent }: { projectId: string; agent: api.Agent }) {
  const query = useQuery(queries.trials(agent.id));
  const [isOpen, setOpen] = useState(false);
  const mayTry = useMay('admin');
  return (
    <Section title="Trials">
      <QueryResult query={query} rows={2}>
        {(trials) =>
          trials.length === 0 ? (
            <p className="muted">
              No trials yet. A trial shows how many of your repository's earlier changes the agent can make, and at what
              cost.
            </p>
          ) : (
            <ul className="list">
              {trials.map((trial) => (
                <TrialItem key={trial.id} trial={trial} projectId={projectId} mayCancel={mayTry} />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {mayTry && (
        <div className="row">
          <Button onClick={() => setOpen(true)}>Try on your own changes</Button>
        </div>
      )}
      {isOpen && <TryDialog projectId={projectId} agent={agent} onClose={() => setOpen(false)} />}
    </Section>
  );
}

interface ItemProps {
  trial: api.AgentTrial;
  projectId: string;
  mayCancel: boolean;
}

function TrialItem({ trial, projectId, mayCancel }: ItemProps) {
  const { status, reason, against } = trial;
  return (
    <li className="list-item">
      <div className="grow stack">
        <p>
          <Label variant={status === 'running' ? 'attention' : status === 'failed' ? 'danger' : 'secondary'}>
            {statusNames[status]}
          </Label>{' '}
          <span className="strong">{solvedText(trial)}</span>{' '}
          <span className="muted">
            version {trial.version} · <bdi>{trial.model}</bdi> · {formatCost(trial.costUsd)} ·{' '}
            {Math.round(trial.minutes)} min · <TimeAgo at={trial.createdAt} />
          </span>
        </p>
        {against !== undefined && (
          <p>
            {verdictText(against)}{' '}
            <span className="muted">
              Compared with{' '}
              <Link to={`/projects/${projectId}/agents/${against.agentId}`}>version {against.version}</Link> on{' '}
              <bdi>{against.model}</bdi>: {solvedText(against)}, {formatCost(against.costUsd)}.
            </span>
          </p>
        )}
        {reason !== null && <p className="muted wrap">{revealHidden(reason)}</p>}
        {trial.items.length > 0 && (
          <details>
            <summary>{plural(trial.items.length, 'item')}</summary>
            <ItemsTable trial={trial} />
          </details>
        )}
        <p>
          <Link to={`/projects/${projectId}/repositories/${trial.repositoryId}/portfolio`}>Compare all agents</Link>
        </p>
      </div>
      {status === 'running' && mayCancel && <CancelTrial trial={trial} />}
    </li>
  );
}

const resultNames = { solved: 'Solved', unsolved: 'Not solved', error: 'Error' };

function ItemsTable({ trial: { items, against } }: { trial: api.AgentTrial }) {
  const resultOf = (item: (typeof items)[number]) => (
    <Link to={`/tasks/${item.taskId}/runs/${item.runId}`}>
      {item.result === null ? 'Running' : resultNames[item.result]}
    </Link>
  );
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Item</th>
          <th scope="col">Result</th>
          {against !== undefined && <th scope="col">Compared with</th>}
          <th scope="col">Cost</th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => {
          const other = against?.items.find(({ itemId }) => itemId === item.itemId);
          return (
            <tr key={item.runId}>
              <td className="wrap">
                <bdi>{revealHidden(item.title)}</bdi>
              </td>
              <td>{resultOf(item)}</td>
              {against !== undefined && <td>{other === undefined ? '–' : resultOf(other)}</td>}
              <td>{item.costUsd === null ? '–' : formatCost(item.costUsd)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function CancelTrial({ trial }: { trial: api.AgentTrial }) {
  const client = useQueryClient();
  const confirm = useConfirm();
  const cancel = useMutation({
    mutationFn: () => api.cancelTrial(trial.id),
    onSuccess: () => client.invalidateQueries({ queryKey: ['trials'] }),
    onError: notifyError,
  });
  const ask = async () => {
    const isConfirmed = await confirm({
      title: 'Cancel this trial?',
      content: 'Its results so far are kept.',
      confirmButtonContent: 'Cancel trial',
      cancelButtonContent: 'Keep running',
      confirmButtonType: 'danger',
    });
    if (isConfirmed) cancel.mutate();
  };
  return (
    <Button size="small" loading={cancel.isPending} onClick={() => void ask()}>
      Cancel trial
    </Button>
  );
}
