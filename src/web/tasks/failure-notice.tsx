import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { belowLimit } from '../../domain/budget.ts';
import { remedies } from '../../domain/run.ts';
import type { Failure, Task } from '../api.ts';
import { failureName } from '../display/names.ts';
import * as queries from '../live/queries.ts';

/** Why the last run of a task failed and what to do about it. */
export function FailureNotice({ task }: { task: Task }) {
  if (task.failure === null) return null;
  return (
    <section className="box failure" aria-label="Last failure">
      <p className="wrap strong">
        The last run failed ({failureName(task.failure)}): {task.failure.message}
      </p>
      <Remedy task={task} failure={task.failure} />
    </section>
  );
}

/** What a person can do about a failed run, with a link to where they can do it. */
export function Remedy({ task, failure }: { task: Task; failure: Failure }) {
  const project = useQuery(queries.project(task.projectId));
  const isBeyondProject =
    project.data !== undefined && belowLimit(project.data.budgets, project.data.limits).length === 0;
  const link = linkFor(failure, task);
  return (
    <p className="wrap">
      {failure.category === 'budget' && isBeyondProject ? operatorBudgetRemedy : remedies[failure.category]}
      {link && (
        <>
          {' '}
          <Link to={link.to}>{link.text}</Link>
        </>
      )}
    </p>
  );
}

/** Where no budget of the project is below the limit of the service, raising one changes nothing. */
const operatorBudgetRemedy =
  'No budget of the project is below the limit of the service, so the service or .deckhand.yml set the limit. Ask the operator or a maintainer to raise it, or make the task smaller, then retry.';

function linkFor({ category }: Failure, task: Task): { to: string; text: string } | undefined {
  const project = `/projects/${task.projectId}`;
  switch (category) {
    case 'auth':
    case 'budget':
      return { to: `${project}/settings`, text: 'Open project settings' };
    case 'model':
      return task.owner === null ? undefined : { to: `${project}/agents/${task.owner}`, text: 'Open agent' };
    case 'repository':
      return { to: `${project}/repositories`, text: 'Open repositories' };
    default:
      return undefined;
  }
}
