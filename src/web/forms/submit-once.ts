import type { UseMutationResult } from '@tanstack/react-query';
import type { FormEvent } from 'react';

type Mutation<T, E> = Pick<UseMutationResult<T, E, void>, 'mutate'>;

const pending = new WeakSet<object>();

/** Mutates unless the previous call is still pending, because keys can repeat faster than React disables a button. */
export function mutateOnce<T, E>({ mutate }: Mutation<T, E>): void {
  if (pending.has(mutate)) return;
  pending.add(mutate);
  mutate(undefined, { onSettled: () => pending.delete(mutate) });
}

/** Returns a submit handler that sends a valid form once, even if Enter is pressed several times. */
export function submitOnce<T, E>(mutation: Mutation<T, E>, isValid: () => boolean = () => true) {
  return (event: FormEvent) => {
    event.preventDefault();
    if (isValid()) mutateOnce(mutation);
  };
}
