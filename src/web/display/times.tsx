import { RelativeTime } from '@primer/react';

/** A time in the person's own words and zone; with the pointer on it, in UTC. */
export function When({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`${at.slice(0, 19).replace('T', ' ')} UTC`}>
      <RelativeTime date={new Date(at)} noTitle />
    </time>
  );
}

/** A day in the person's own way of writing; days of sprints are days in UTC. */
export function Day({ date }: { date: string }) {
  const day = new Date(`${date.slice(0, 10)}T00:00:00Z`);
  return (
    <time dateTime={date.slice(0, 10)}>
      {day.toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' })}
    </time>
  );
}

/** How long something took: `3 s`, `2 min 5 s`, `1 h 4 min`. */
export function duration(from: string, to: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function dollars(cost: number | null): string {
  if (cost === null) return 'no price';
  return cost > 0 && cost < 0.01 ? 'under $0.01' : `$${cost.toFixed(2)}`;
}
