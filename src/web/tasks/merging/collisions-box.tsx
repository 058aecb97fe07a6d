import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type * as api from '../../api.ts';
import { plural } from '../../display/formats.ts';
import { TaskStatus } from '../../display/status-labels.tsx';
import * as queries from '../../live/queries.ts';
import { otherPullName } from './readiness.ts';

/** More entries, and more files of each, than this are counted. */
const [maxNamed, maxFiles] = [5, 5];

/**
 * Says on the page of a task which open changes git cannot merge together with its own and, before it has a change, which
 * tasks in progress will probably touch the same files.
 */
export function CollisionsBox({ task }: { task: api.Task }) {
  const { data } = useQuery({ ...queries.collisions(task.id), enabled: task.status !== 'done' });
  if (data === undefined || task.status === 'done') return null;
  const { collisions, expected } = data;
  if (collisions.length + expected.length === 0) return null;
  return (
    <section className="box stack tight page-part" aria-label="Collisions">
      {collisions.length > 0 && (
        <>
          <p>
            This change cannot be merged together with other open ones. Whichever is merged first, the other conflicts:
          </p>
          <ul>
            {collisions.slice(0, maxNamed).map((each) => (
              <li key={`${each.repositoryId} ${each.otherNumber}`} className="wrap">
                <Other {...each} /> <Files files={each.files} />
              </li>
            ))}
          </ul>
          <More count={collisions.length - maxNamed} />
        </>
      )}
      {expected.length > 0 && (
        <>
          <p>Tasks in progress probably change the same files:</p>
          <ul>
            {expected.slice(0, maxNamed).map(({ taskId, title, status, files }) => (
              <li key={taskId} className="wrap">
                <Link to={`/tasks/${taskId}`}>
                  <bdi>{title}</bdi>
                </Link>{' '}
                <TaskStatus status={status} /> <Files files={files} />
              </li>
            ))}
          </ul>
          <More count={expected.length - maxNamed} />
        </>
      )}
    </section>
  );
}

function Other(each: api.Collisions['collisions'][number]) {
  const { otherTaskId, otherTitle, otherUrl, otherAuthor } = each;
  const pull = (
    <a href={otherUrl} rel="noopener nofollow" target="_blank">
      {otherPullName(each)}
    </a>
  );
  if (otherTaskId !== null)
    return (
      <>
        <Link to={`/tasks/${otherTaskId}`}>
          <bdi>{otherTitle}</bdi>
        </Link>{' '}
        {pull}
      </>
    );
  return (
    <>
      {pull}{' '}
      {otherAuthor !== null && (
        <>
          by <bdi>{otherAuthor}</bdi>{' '}
        </>
      )}
      <bdi>{otherTitle}</bdi>
    </>
  );
}

function Files({ files }: { files: string[] }) {
  const more = files.length - maxFiles;
  return (
    <span className="muted">
      <bdi>{files.slice(0, maxFiles).join(', ')}</bdi>
      {more > 0 && ` and ${plural(more, 'more file')}`}
    </span>
  );
}

function More({ count }: { count: number }) {
  return count > 0 ? <p className="muted">and {plural(count, 'other')}</p> : null;
}
