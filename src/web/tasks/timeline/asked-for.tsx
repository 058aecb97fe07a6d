import { useInfiniteQuery } from '@tanstack/react-query';
import type { Run } from '../../api.ts';
import { askedFor, isAskedFor, timeline } from './timeline-texts.ts';

/** Says who asked for a run and what they want. It may have begun without a person. */
export function AskedFor({ run }: { run: Run }) {
  const { data = [] } = useInfiniteQuery({ ...timeline(run.taskId), enabled: isAskedFor(run.kind) });
  const asked = askedFor(run, data);
  if (asked === undefined) return null;
  return (
    <p className="wrap">
      <bdi>{asked.who}</bdi> asked for this: <bdi>{asked.text}</bdi>
    </p>
  );
}
