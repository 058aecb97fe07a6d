import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import * as queries from '../live/queries.ts';
import { readDraft, removeDraft, writeDraft } from './stored-drafts.ts';

type Next<T> = T | ((before: T) => T);

/**
 * Works like `useState`, but what people have written at a place is still there after Back, a reload or Escape. `place`
 * names the field and what it is about; it must not change while the field is shown. Without a place, nothing is stored.
 * Call `clear` when the text was sent, or when the person discards it.
 */
export function useDraft<T>(place: string | undefined, initial: T) {
  const { data: me } = useQuery(queries.me());
  const person = me?.id;
  const isKept = place !== undefined && person !== undefined;
  const [first] = useState(initial);
  const [value, setValue] = useState(() => (isKept ? readDraft(localStorage, person, place, first) : first));
  const latest = useRef(value);
  const show = (next: T) => {
    latest.current = next;
    setValue(next);
  };
  const set = (next: Next<T>) => {
    show(typeof next === 'function' ? (next as (before: T) => T)(latest.current) : next);
    if (isKept) writeDraft(localStorage, person, place, latest.current, first);
  };
  const clear = () => {
    show(first);
    if (isKept) removeDraft(localStorage, person, place);
  };
  return { value, set, clear };
}
