import { useQuery } from '@tanstack/react-query';
import type * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import * as queries from '../live/queries.ts';
import { actionsFor } from './actions/task-actions.ts';

/** Says on the page of a task that can be started that others may be doing its work. */
export function OtherWorkBox({ task }: { task: api.Task }) {
  const isOffered = task.issueNumber !== null && task.branchName === null && actionsFor(task).includes('start');
  const { data: pulls = [] } = useQuery({ ...queries.otherWork(task.id), enabled: isOffered });
  if (!isOffered || pulls.length === 0) return null;
  return (
    <section className="box stack tight page-part" aria-label="Work of others">
      <OtherWork pulls={pulls} />
    </section>
  );
}

/** More pull requests than this are counted. */
const maxNamed = 5;

/** Names the open pull requests of others for the issue of a task. */
export function OtherWork({ pulls }: { pulls: api.OtherWork[] }) {
  return (
    <>
      <p>Somebody may be working on this already. Open pull requests for its issue:</p>
      <ul>
        {pulls.slice(0, maxNamed).map(({ repositoryName, number, url, author, closes }) => (
          <li key={url} className="wrap">
            <a href={url} rel="noopener nofollow" target="_blank">
              {repositoryName} #{number}
            </a>{' '}
            {author !== null && (
              <>
                by <bdi>{author}</bdi>{' '}
              </>
            )}
            {closes ? 'would close the issue' : 'mentions the issue'}
          </li>
        ))}
      </ul>
      {pulls.length > maxNamed && <p className="muted">and {plural(pulls.length - maxNamed, 'other')}</p>}
    </>
  );
}
