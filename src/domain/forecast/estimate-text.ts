import type { Estimate } from './estimates.ts';

/** An estimate in minutes, as the API returns it. */
export interface EstimateInMinutes extends Pick<Estimate, 'basedOn' | 'isSimilar'> {
  likelyMinutes: number;
  safeMinutes: number;
  workMinutes: number;
}

/** Converts an estimate to minutes, with one decimal. */
export function inMinutes({ likelyMs, safeMs, workMs, basedOn, isSimilar }: Estimate): EstimateInMinutes {
  const minutes = (ms: number) => Math.round(ms / 6000) / 10;
  return {
    likelyMinutes: minutes(likelyMs),
    safeMinutes: minutes(safeMs),
    workMinutes: minutes(workMs),
    basedOn,
    isSimilar,
  };
}

/** Writes an estimate as a sentence: `About 40 min, from 5 similar tasks.` */
export function estimateText({ likelyMinutes, basedOn, isSimilar }: EstimateInMinutes): string {
  const basis = isSimilar ? `${basedOn.length} similar tasks` : `the latest ${basedOn.length} finished tasks`;
  return `About ${roughly(likelyMinutes)}, from ${basis}.`;
}

/** Formats an estimated duration, rounded to what an estimate can tell: `40 min`, `2.5 h`, `3 days`. */
export function roughly(minutes: number): string {
  const roundMinutes = minutes < 10 ? Math.max(1, Math.round(minutes)) : 5 * Math.round(minutes / 5);
  if (roundMinutes < 60) return `${roundMinutes} min`;
  const hours = minutes / 60;
  const roundHours = hours < 10 ? Math.round(2 * hours) / 2 : Math.round(hours);
  return roundHours < 48 ? `${roundHours} h` : `${Math.round(hours / 24)} days`;
}
