import { remedies } from '../../domain/run.ts';
import type { Task } from '../api.ts';
import { failureName } from '../display/names.ts';

/** Why the last run of a task failed and what to do about it. */
export function FailureNotice({ task }: { task: Task }) {
  if (task.failure === null) return null;
  return (
    <section className="box failure" aria-label="Last failure">
      <p className="wrap strong">
        The last run failed ({failureName(task.failure)}): {task.failure.message}
      </p>
      <p>{remedies[task.failure.category]}</p>
    </section>
  );
}
