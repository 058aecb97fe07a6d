import { Label } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Link } from 'react-router';
import type { InboxEntry, Task } from '../api.ts';
import { inboxNames } from '../display/names.ts';
import { Loading } from '../display/query-result.tsx';
import { TimeAgo } from '../display/times.tsx';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
import { FailedRun, Review } from './task-decisions.tsx';

// Plans and questions are Markdown, which most first visits do without.
const WaitingRun = lazyPart(async () => ({ default: (await import('./waiting-run.tsx')).WaitingRun }));

/** Characters of an entry's text that are shown when its task cannot be loaded. */
const maxText = 300;

const variants = {
  plan: 'attention',
  question: 'attention',
  push: 'attention',
  paused: 'sponsors',
  review: 'done',
  failed: 'danger',
} as const;

/** Shows a task that needs a person, with everything that is needed to decide it here. */
export function Entry({ entry }: { entry: InboxEntry }) {
  const { taskId, reason, title, since } = entry;
  return (
    <li className="inbox-entry">
      <div className="row wrap-row">
        <Label variant={variants[reason]}>{inboxNames[reason]}</Label>
        <Link
          to={reason === 'review' || reason === 'push' ? `/tasks/${taskId}?tab=diff` : `/tasks/${taskId}`}
          className="strong wrap"
          data-entry
        >
          <bdi>{title}</bdi>
        </Link>
        <span className="muted">
          <ProjectName id={entry.projectId} />
          <TimeAgo at={since} />
        </span>
      </div>
      <Decision entry={entry} />
    </li>
  );
}

function ProjectName({ id }: { id: string }) {
  const { data: projects } = useQuery(queries.projects());
  const name = projects?.find((project) => project.id === id)?.name;
  if (name === undefined) return null;
  return (
    <>
      <Link to={`/projects/${id}`} className="muted">
        <bdi>{name}</bdi>
      </Link>{' '}
      ·{' '}
    </>
  );
}

function Decision({ entry }: { entry: InboxEntry }) {
  const { data: task, error } = useQuery(queries.task(entry.taskId));
  if (task !== undefined) return <DecisionAbout entry={entry} task={task} />;
  if (!error) return <Loading rows={2} />;
  return (
    <p className="muted wrap">
      <bdi>{entry.text.length > maxText ? `${entry.text.slice(0, maxText)}…` : entry.text}</bdi>
    </p>
  );
}

function DecisionAbout({ entry, task }: { entry: InboxEntry; task: Task }) {
  switch (entry.reason) {
    case 'review':
      return <Review entry={entry} task={task} />;
    case 'failed':
      return <FailedRun entry={entry} task={task} />;
    default:
      return (
        <Suspense fallback={<Loading rows={2} />}>
          <WaitingRun entry={entry} task={task} />
        </Suspense>
      );
  }
}
