import { Button, Label, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'react-router';
import * as api from '../api.ts';
import { formatCost } from '../display/formats.ts';
import { revealHidden } from '../display/hidden-characters.ts';
import { TimeAgo } from '../display/times.tsx';
import { useMay } from '../forms/may.tsx';
import { notifyError } from '../frame/notices.tsx';
import * as repositoryQueries from '../live/queries/repositories.ts';
import { adviceText, armName, perSolvedOf, progressText, solvedText, statusNames, verdictText } from './trial-texts.ts';

/** Shows trials with what each agent solved at what cost. Admins can cancel those that run. */
export function TrialList({ trials, projectId }: { trials: api.AgentTrial[]; projectId: string }) {
  const mayCancel = useMay('admin');
  return (
    <>
      <ul className="list">
        {trials.map((trial) => (
          <TrialResult key={trial.id} trial={trial} projectId={projectId} mayCancel={mayCancel} />
        ))}
      </ul>
      <p className="muted small">
        {trials.some(hasInterval) &&
          'In brackets: the share of the items that were solved, and the range that covers the true share in 95 of 100 trials. '}
        What trials cost is part of the cost of an agent. Its other figures do not count trials.
      </p>
    </>
  );
}

/** Returns whether `solvedText` has anything in brackets. */
const hasInterval = (trial: api.AgentTrial) => armsOf(trial).some(({ interval }) => interval !== null);

interface Props {
  trial: api.AgentTrial;
  projectId: string;
  mayCancel: boolean;
}

function TrialResult({ trial, projectId, mayCancel }: Props) {
  const { status, reason, against } = trial;
  const { data: repositories } = useQuery(repositoryQueries.repositories(projectId));
  const repository = repositories?.find(({ id }) => id === trial.repositoryId);
  return (
    <li className="list-item">
      <div className="grow stack">
        <p>
          <Label variant={status === 'running' ? 'attention' : status === 'failed' ? 'danger' : 'secondary'}>
            {statusNames[status]}
          </Label>{' '}
          {against !== undefined && (
            <span className="strong">
              <bdi>
                {verdictText(against, armName(trial, against))} {adviceText(trial, against)}
              </bdi>
            </span>
          )}{' '}
          <span className="muted">
            {repository !== undefined && (
              <>
                On <bdi>{repository.name}</bdi>,{' '}
              </>
            )}
            <TimeAgo at={trial.createdAt} />
          </span>
        </p>
        <Arms trial={trial} projectId={projectId} />
        {reason !== null && <p className="muted wrap">{revealHidden(reason)}</p>}
        {trial.items.length > 0 && (
          <details>
            <summary>{progressText(trial)}</summary>
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

/** What was tried, and what it was compared with. */
const armsOf = (trial: api.AgentTrial) => (trial.against === undefined ? [trial] : [trial, trial.against]);

function Arms({ trial, projectId }: { trial: api.AgentTrial; projectId: string }) {
  const arms = armsOf(trial);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard
    <section className="comparison-table" tabIndex={0} aria-label="What was solved">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Solved</th>
            <th scope="col">Per solved item</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {arms.map((arm, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: both may be the same agent, and the list never changes
            <tr key={at}>
              <th scope="row">
                <Link to={`/projects/${projectId}/agents/${arm.agentId}`}>
                  <bdi>{armName(arm, arms[1 - at])}</bdi>
                </Link>
                <div className="muted small wrap">
                  with <bdi>{arm.model}</bdi>
                  {!arm.isCurrent && ', with a prompt that it does not have now'}
                </div>
              </th>
              <td>{solvedText(arm)}</td>
              <td>{perSolvedOf(arm)}</td>
              <td>{formatCost(arm.costUsd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const resultNames = { solved: 'Solved', unsolved: 'Not solved', error: 'Error' };

function ItemsTable({ trial }: { trial: api.AgentTrial }) {
  const { items, against } = trial;
  const resultOf = (item: (typeof items)[number]) => (
    <>
      <Link to={`/tasks/${item.taskId}/runs/${item.runId}`}>
        {item.result === null ? 'Running' : resultNames[item.result]}
      </Link>
      {item.costUsd !== null && `, ${formatCost(item.costUsd)}`}
    </>
  );
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Item</th>
          <th scope="col">{against === undefined ? 'Result' : <bdi>{armName(trial, against)}</bdi>}</th>
          {against !== undefined && (
            <th scope="col">
              <bdi>{armName(against, trial)}</bdi>
            </th>
          )}
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
