import type { UseMutationResult } from '@tanstack/react-query';
import type { FormEvent } from 'react';

type Change<T, E> = Pick<UseMutationResult<T, E, void>, 'mutate'>;

const underWay = new WeakSet<object>();

/** Asks once until the answer is there: keys come faster than a page is drawn anew. */
export function mutateOnce<T, E>({ mutate }: Change<T, E>): void {
  if (underWay.has(mutate)) return;
  underWay.add(mutate);
  mutate(undefined, { onSettled: () => underWay.delete(mutate) });
}

/** Sends a form once, however often Enter is pressed; not at all where it `isUnfit`. */
export function submitting<T, E>(change: Change<T, E>, isUnfit: () => boolean = () => false) {
  return (event: FormEvent) => {
    event.preventDefault();
    if (!isUnfit()) mutateOnce(change);
  };
}
