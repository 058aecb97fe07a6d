import { Label } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { InboxEntry } from '../api.ts';
import { EmptyState } from '../display/empty-state.tsx';
import { inboxNames } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { TimeAgo } from '../display/times.tsx';
import { PageHeader } from '../frame/page-header.tsx';
import { usePageTitle } from '../frame/use-page-title.ts';
import * as queries from '../live/queries.ts';

/** Characters of an entry's text that are shown. The page of the task shows all of it. */
const maxText = 300;

/** Shows the tasks that need a person, in all projects. */
export function InboxPage() {
  usePageTitle('Inbox');
  const query = useQuery(queries.inbox());
  return (
    <div className="narrow">
      <PageHeader title="Inbox" />
      <QueryResult query={query}>
        {(entries) =>
          entries.length === 0 ? (
            <EmptyState title="Nothing needs you">
              Plans and changes to approve, questions of agents, paused runs, work to review and failed runs of all your
              projects appear here.
            </EmptyState>
          ) : (
            <ul className="list" aria-label="Tasks that need a person">
              {entries.map((entry) => (
                <Entry key={entry.taskId} entry={entry} />
              ))}
            </ul>
          )
        }
      </QueryResult>
    </div>
  );
}

const variants = {
  plan: 'attention',
  question: 'attention',
  push: 'attention',
  paused: 'sponsors',
  review: 'done',
  failed: 'danger',
} as const;

function Entry({ entry: { taskId, projectId, reason, title, text, since } }: { entry: InboxEntry }) {
  const { data: projects } = useQuery(queries.projects());
  const project = projects?.find(({ id }) => id === projectId);
  return (
    <li className="list-item">
      <Label variant={variants[reason]}>{inboxNames[reason]}</Label>
      <Link to={reason === 'review' ? `/tasks/${taskId}?tab=diff` : `/tasks/${taskId}`} className="strong wrap">
        <bdi>{title}</bdi>
      </Link>
      <span className="muted">
        {project && (
          <>
            <bdi>{project.name}</bdi> ·{' '}
          </>
        )}
        <TimeAgo at={since} />
      </span>
      {text !== '' && (
        <p className="muted wrap">
          <bdi>{text.length > maxText ? `${text.slice(0, maxText)}…` : text}</bdi>
        </p>
      )}
    </li>
  );
}
