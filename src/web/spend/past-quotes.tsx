import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { PastQuotes as Past } from '../api.ts';
import { formatCost } from '../display/formats.ts';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/sections.tsx';
import * as queries from '../live/queries.ts';

/** Says how well the quotes of finished tasks held. */
export function PastQuotes({ projectId }: { projectId: string }) {
  const query = useQuery(queries.pastQuotes(projectId));
  return (
    <Section title="Accuracy of past quotes">
      <QueryResult query={query} rows={2}>
        {(past) => <View past={past} />}
      </QueryResult>
    </Section>
  );
}

function View({ past }: { past: Past }) {
  const { costUsd, minutes, quotes } = past;
  if (quotes.length === 0)
    return (
      <p className="muted">
        A task gets a quote when it is started, from similar finished tasks. When quoted tasks are done, this says how
        often their bounds held.
      </p>
    );
  return (
    <>
      <p className="wrap">{[sentence('cost', costUsd), sentence('time', minutes)].filter(Boolean).join(' ')}</p>
      <table className="table figures">
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">Half need at most</th>
            <th scope="col">Four of five</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {quotes.map(({ taskId, title, costP50, costP80, costUsd: cost }) => (
            <tr key={taskId}>
              <td className="wrap">
                <Link to={`/tasks/${taskId}`}>
                  <bdi>{title}</bdi>
                </Link>
              </td>
              <td>{formatCost(costP50)}</td>
              <td>{formatCost(costP80)}</td>
              <td>{formatCost(cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Says how many bounds of a kind held; '' if there were none. */
function sentence(what: string, { of, p50, p80 }: Past['costUsd']): string {
  if (of === 0) return '';
  const share = (held: number) => `${Math.round((100 * held) / of)}%`;
  return `Of ${of} tasks with a quote for ${what}, ${share(p80)} stayed within the bound for four of five, and ${share(p50)} within the bound for half.`;
}
