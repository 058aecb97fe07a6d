import { useQuery } from '@tanstack/react-query';
import type { Sprint } from '../api.ts';
import { Loading } from '../display/query-result.tsx';
import { Section } from '../display/sections.tsx';
import * as queries from '../live/queries.ts';
import { ForecastDates } from './forecast-dates.tsx';
import { knownForecast, verdict } from './forecast-text.ts';
import { WhatIf } from './what-if.tsx';

/** Shows when the work of a sprint that has not ended will be done, and what would change that. */
export function SprintForecast({ sprint }: { sprint: Sprint }) {
  const { data: metrics } = useQuery(queries.metrics(sprint.id));
  if (metrics === undefined) return <Loading rows={1} />;
  const known = knownForecast(metrics.forecast);
  return (
    <Section title="Forecast">
      {known === undefined ? (
        <p className="muted">No forecast yet. {metrics.forecast.reason}</p>
      ) : (
        <>
          <ForecastDates forecast={known} />
          <p>{verdict(known, sprint.endDate)}</p>
          <WhatIf sprint={sprint} forecast={known} />
        </>
      )}
    </Section>
  );
}
