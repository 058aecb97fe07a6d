import type { Forecast } from '../api.ts';
import { plural } from '../display/formats.ts';

/** A forecast with its times. */
export type KnownForecast = Record<'p50' | 'p80' | 'p95', string>;

const dayMs = 86_400_000;

/** Returns the times of a forecast; undefined if the reply has no forecast. */
export function knownForecast({ p50, p80, p95 }: Forecast): KnownForecast | undefined {
  return p50 === null || p80 === null || p95 === null ? undefined : { p50, p80, p95 };
}

/** Says how likely the work is done by the end of the last day of a sprint. */
export function verdict({ p50, p80, p95 }: KnownForecast, endDate: string): string {
  const isInTime = (time: string) => Date.parse(time) < Date.parse(endDate.slice(0, 10)) + dayMs;
  if (isInTime(p95)) return 'The tasks will very likely be done by the last day of the sprint.';
  if (isInTime(p80)) return 'The tasks will probably be done by the last day of the sprint.';
  if (isInTime(p50)) return 'The tasks may be done by the last day of the sprint, but this is uncertain.';
  return 'The tasks will probably not be done by the last day of the sprint.';
}

/** Says how much earlier the 80 percent date of another forecast is. */
export function gain(before: KnownForecast, after: KnownForecast): string {
  const days = (Date.parse(before.p80) - Date.parse(after.p80)) / dayMs;
  if (days >= 0.95) return `about ${plural(Math.round(days), 'day')} earlier`;
  const hours = Math.round(days * 24);
  if (hours >= 1) return `about ${plural(hours, 'hour')} earlier`;
  return 'at about the same time';
}
