import { useQuery } from '@tanstack/react-query';
import type { Handoff } from '../api.ts';
import { Markdown } from '../display/markdown.tsx';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/section.tsx';
import { TimeAgo } from '../display/times.tsx';
import * as queries from '../live/queries.ts';

/** Shows the notes that each run leaves for the next one. */
export function Handoffs({ taskId }: { taskId: string }) {
  const query = useQuery(queries.handoffs(taskId));
  return (
    <Section title="Handoffs">
      <QueryResult query={query} rows={2}>
        {({ handoffs }) =>
          handoffs.length === 0 ? (
            <p className="muted">No handoffs yet. Each run leaves notes here for the next run.</p>
          ) : (
            <ol className="timeline">
              {handoffs.map((handoff) => (
                <HandoffItem key={handoff.id} handoff={handoff} />
              ))}
            </ol>
          )
        }
      </QueryResult>
    </Section>
  );
}

function HandoffItem({ handoff }: { handoff: Handoff }) {
  return (
    <li>
      <p className="muted small">
        <TimeAgo at={handoff.createdAt} />
      </p>
      <Markdown text={handoff.summary} />
      {handoff.nextSteps.length > 0 && (
        <ul className="bullets">
          {handoff.nextSteps.map((step) => (
            <li key={step} className="wrap">
              {step}
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
