import { Link } from 'react-router';
import { limitSetter, remedyFor } from '../../domain/run.ts';
import type { Failure, Task } from '../api.ts';
import { useMay } from '../forms/may.tsx';

/** Shows why the last run of a task failed and what to do about it. */
export function FailureNotice({ task }: { task: Task }) {
  if (task.failure === null) return null;
  return (
    <section className="box failure" aria-label="Last failure">
      <FailureText task={task} failure={task.failure} />
    </section>
  );
}

/** Says why the last run of a task failed and what to do about it. */
export function FailureText({ task, failure }: { task: Task; failure: Failure }) {
  return (
    <>
      <p className="wrap strong">The last run failed: {failure.message}</p>
      <Remedy task={task} failure={failure} />
      {task.editedSinceFailure && <p className="muted">{editedSince}</p>}
    </>
  );
}

/** The failure may be about a text that is not there any more. */
export const editedSince = 'The task was edited after this run.';

/** Shows what a person can do about a failed run, with a link to the right place. A viewer has no button that does it. */
export function Remedy({ task, failure }: { task: Task; failure: Failure }) {
  const mayRetry = useMay('member');
  if (!mayRetry)
    return <p className="wrap">Members of the project can retry it. As a viewer, you can read its runs.</p>;
  const link = linkFor(failure, task);
  return (
    <p className="wrap">
      {withCode(remedyFor(failure))}
      {link && (
        <>
          {' '}
          <Link to={link.to}>{link.text}</Link>
        </>
      )}
    </p>
  );
}

/** Shows what is between backticks as code, as GitHub does in the comment with the same text. */
function withCode(text: string) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
  return text.split('`').map((part, i) => (i % 2 === 0 ? part : <code key={i}>{part}</code>));
}

function linkFor({ category, message }: Failure, task: Task): { to: string; text: string } | undefined {
  const project = `/projects/${task.projectId}`;
  switch (category) {
    case 'auth':
      return { to: `${project}/settings`, text: 'Open project settings' };
    case 'budget':
    case 'timeout':
      // The project's settings cannot raise a limit that the service or .deckhand.yml sets.
      return limitSetter(message) === 'project'
        ? { to: `${project}/settings`, text: 'Open project settings' }
        : undefined;
    case 'model':
      return task.owner === null ? undefined : { to: `${project}/agents/${task.owner}`, text: 'Open agent' };
    case 'repository':
      return { to: `${project}/repositories`, text: 'Open repositories' };
    default:
      return undefined;
  }
}
