import { Link } from 'react-router';
import type { Session } from '../api.ts';
import { Doing } from '../display/activity.tsx';
import { costOf, elapsedOf, formatMs } from '../display/formats.ts';
import { queueText, runKindName, runPath, waitNames } from '../display/names.ts';
import { RunStatus } from '../display/status-labels.tsx';
import { TimeAgo, useNow } from '../display/times.tsx';

/** Shows runs as a table, with a column for their project if they are of several. */
export function SessionTable(props: { label: string; sessions: Session[]; hasProjects?: boolean }) {
  const { label, sessions, hasProjects = false } = props;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard
    <section className="table-frame" tabIndex={0} aria-label={label}>
      <table className="run-table">
        <thead>
          <tr>
            <th scope="col">Task</th>
            {hasProjects && <th scope="col">Project</th>}
            <th scope="col">Status</th>
            <th scope="col">Agent</th>
            <th scope="col">Started by</th>
            <th scope="col" className="number">
              Step
            </th>
            <th scope="col" className="number">
              Cost
            </th>
            <th scope="col" className="number">
              Duration
            </th>
            <th scope="col">Queued</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} hasProject={hasProjects} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function SessionRow({ session, hasProject }: { session: Session; hasProject: boolean }) {
  const { id, taskId, taskTitle, projectId, projectName, agentName, startedBy, steps, createdAt } = session;
  return (
    <tr>
      <td className="run-table-main">
        <Link to={runPath(taskId, id)} className="strong">
          <bdi>{taskTitle}</bdi>
        </Link>
        {session.kind !== 'start' && <span className="muted small"> {runKindName(session)}</span>}
        {session.activity !== null && (
          <div className="small">
            <Doing activity={session.activity} />
          </div>
        )}
        {session.failure !== null && (
          <div className="muted small clipped" title={session.failure}>
            {session.failure}
          </div>
        )}
      </td>
      {hasProject && (
        <td>
          <Link to={`/projects/${projectId}`}>
            <bdi>{projectName}</bdi>
          </Link>
        </td>
      )}
      <td>
        <RunStatus status={session.status} />
        <div className="muted small">{reasonOf(session)}</div>
      </td>
      <td>
        <bdi>{agentName ?? '–'}</bdi>
      </td>
      <td>{startedBy === null ? <span className="muted">Deckhand</span> : <bdi>{startedBy}</bdi>}</td>
      <td className="number">{steps}</td>
      <td className="number">{costOf(session)}</td>
      <td className="number">
        <Duration session={session} />
      </td>
      <td className="muted">
        <TimeAgo at={createdAt} />
      </td>
    </tr>
  );
}

/** Says what a run waits for, or its place in the queue. */
function reasonOf({ status, waitReason, queuePosition }: Session): string | null {
  if (status === 'waiting') return waitReason === null ? null : waitNames[waitReason];
  if (status !== 'queued') return null;
  return queueText(queuePosition);
}

function Duration({ session }: { session: Session }) {
  if (session.startedAt === null) return '–';
  return session.finishedAt === null ? <LiveDuration session={session} /> : formatMs(elapsedOf(session, 0));
}

function LiveDuration({ session }: { session: Session }) {
  return formatMs(elapsedOf(session, useNow(1000)));
}
