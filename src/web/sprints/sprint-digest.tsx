import { useQuery } from '@tanstack/react-query';
import { formatCost } from '../display/formats.ts';
import { Markdown } from '../display/markdown.tsx';
import { QueryResult } from '../display/query-result.tsx';
import * as queries from '../live/queries.ts';

/** Shows the summary written when a sprint is completed. */
export function SprintDigest({ sprintId }: { sprintId: string }) {
  const query = useQuery(queries.digest(sprintId));
  return (
    <QueryResult query={query}>
      {({ markdown, completed, carriedOver, failed, costUsd }) => (
        <section className="box" aria-label="Digest">
          <p className="muted">
            {completed.length} done · {carriedOver.length} carried over · {failed.length} failed · {formatCost(costUsd)}
          </p>
          <Markdown text={markdown} />
        </section>
      )}
    </QueryResult>
  );
}
