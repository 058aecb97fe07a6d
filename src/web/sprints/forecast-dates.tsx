import { FactList } from '../display/sections.tsx';
import { Day, exactTime } from '../display/times.tsx';
import type { KnownForecast } from './forecast-text.ts';

/** Shows the days by which the work is done with a probability of 50, 80 and 95 percent. */
export function ForecastDates({ forecast }: { forecast: KnownForecast }) {
  return (
    <FactList
      facts={{
        'Likely (50%)': <ForecastDay at={forecast.p50} />,
        'Safe (80%)': <ForecastDay at={forecast.p80} />,
        'Almost certain (95%)': <ForecastDay at={forecast.p95} />,
      }}
    />
  );
}

/** Shows a day, with the exact time on hover: a forecast is not exact to the hour. */
function ForecastDay({ at }: { at: string }) {
  return (
    <span title={exactTime(at)}>
      <Day date={at} />
    </span>
  );
}
