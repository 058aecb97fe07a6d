import type { CardRun } from '../api.ts';

const [minute, hour, day] = [60, 3600, 86_400];

/** Formats a length of time as a clock shows it: `0:07`, `12:40`, `1:02:03`. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const twoDigits = (n: number) => String(n).padStart(2, '0');
  const short = `${Math.floor((seconds % hour) / minute)}:${twoDigits(seconds % minute)}`;
  return seconds < hour ? short : `${Math.floor(seconds / hour)}:${short.padStart(5, '0')}`;
}

/** Formats an age in its largest unit: `now`, `5 min`, `3 h`, `12 d`, `2 y`. */
export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < minute) return 'now';
  if (seconds < hour) return `${Math.floor(seconds / minute)} min`;
  if (seconds < day) return `${Math.floor(seconds / hour)} h`;
  const days = Math.floor(seconds / day);
  return days < 365 ? `${days} d` : `${Math.floor(days / 365)} y`;
}

/** What the clock of a run is read from. */
type Timed = Pick<CardRun, 'createdAt' | 'startedAt' | 'finishedAt' | 'waitingSince' | 'waitedSeconds'>;

/**
 * Returns how long a run has worked, in ms, without the time that it waited; for a run that has not started, how long it
 * has been queued.
 */
export function elapsedOf(run: Timed, now: number): number {
  if (run.startedAt === null) return now - Date.parse(run.createdAt);
  const end = Date.parse(run.finishedAt ?? run.waitingSince ?? '') || now;
  // Waits are stored in whole seconds, so a run that only waited could come out below zero.
  return Math.max(0, end - Date.parse(run.startedAt) - run.waitedSeconds * 1000);
}
