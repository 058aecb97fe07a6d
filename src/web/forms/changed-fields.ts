/** The fields that differ from before; a change that sends no more overwrites nobody else's. */
export function changedOf<T extends object>(before: T, now: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(now).filter(([name, value]) => value !== before[name as keyof T]),
  ) as Partial<T>;
}
