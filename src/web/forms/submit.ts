import type { UseMutationResult } from '@tanstack/react-query';
import type { FormEvent, KeyboardEvent } from 'react';

type Mutation<T, E> = Pick<UseMutationResult<T, E, void>, 'mutate'>;

const pending = new WeakSet<object>();

/** Mutates unless the previous call is still pending, because keys can repeat faster than React disables a button. */
export function mutateOnce<T, E>({ mutate }: Mutation<T, E>): void {
  if (pending.has(mutate)) return;
  pending.add(mutate);
  mutate(undefined, { onSettled: () => pending.delete(mutate) });
}

/**
 * Returns a submit handler that sends a valid form once, even if Enter is pressed several times. React lets the event of a dialog
 * bubble to the form that opened it, which must not be sent with it.
 */
export function submitOnce<T, E>(mutation: Mutation<T, E>, isValid: () => boolean = () => true) {
  return (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    if (isValid()) mutateOnce(mutation);
  };
}

/** Submits the form of a field when Ctrl+Enter or Cmd+Enter is pressed in it. */
export function submitOnCtrlEnter(event: KeyboardEvent<HTMLInputElement | HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}

/** Returns the fields that differ. Sending only these avoids overwriting what others changed at the same time. */
export function changedFields<T extends object>(before: T, after: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isSame(value, before[name as keyof T])),
  ) as Partial<T>;
}

/** Lists and groups of fields are the same if their content is. */
const isSame = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b);
