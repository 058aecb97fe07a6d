/** The hour at which snoozed entries come back, in the time of the person. */
const hour = 9;
/** The longest snooze that the form offers, in days. The service accepts a day more, which leaves room for its clock. */
const maxDays = 89;

const dayAfter = (now: Date, days: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);

const tomorrow = (now: Date): Date => dayAfter(now, 1);

/** Returns the next Monday. */
const nextWeek = (now: Date): Date => dayAfter(now, ((7 - now.getDay()) % 7) + 1);

/** Returns the usual times, each once: on a Sunday, the next week begins tomorrow. */
export function usualTimes(now: Date): { name: string; until: Date }[] {
  const times = [
    { name: 'Tomorrow', until: tomorrow(now) },
    { name: 'Next week', until: nextWeek(now) },
  ];
  return now.getDay() === 0 ? times.slice(0, 1) : times;
}

/** Returns the first and the last day that can be chosen, as fields for dates want them. */
export function choosableDays(now: Date): { min: string; max: string } {
  return { min: fieldOf(dayAfter(now, 1)), max: fieldOf(dayAfter(now, maxDays)) };
}

function fieldOf(day: Date): string {
  const two = (part: number) => String(part).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

/** Returns when an entry comes back on a chosen day; undefined for a text that is no such day. */
export function timeOn(field: string, now: Date): Date | undefined {
  const [year = 0, month = 0, day = 0] = field.split('-').map(Number);
  const time = new Date(year, month - 1, day, hour);
  const { min, max } = choosableDays(now);
  return field === fieldOf(time) && field >= min && field <= max ? time : undefined;
}

/** Says when an entry comes back. */
export function snoozeText(until: Date): string {
  const day = { weekday: 'long', month: 'short', day: 'numeric' } as const;
  return until.toLocaleString(undefined, { ...day, hour: 'numeric', minute: '2-digit' });
}
