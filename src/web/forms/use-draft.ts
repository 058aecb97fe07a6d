import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import * as queries from '../live/queries.ts';
import { readChanges, readDraft, removeDraft, writeDraft } from './stored-drafts.ts';
import { changedFields } from './submit.ts';

type Next<T> = T | ((before: T) => T);

/**
 * Works like `useState`, but what people have written at a place is still there after Back, a reload or Escape. `place`
 * names the field and what it is about; it must not change while the field is shown. Without a place, nothing is stored.
 * Call `clear` when the text was sent, or when the person discards it. `isRestored` says that it began with what was written before.
 */
export function useDraft<T>(place: string | undefined, initial: T) {
  const { data: me } = useQuery(queries.me());
  const person = me?.id;
  const isKept = place !== undefined && person !== undefined;
  const [first] = useState(initial);
  const [value, setValue] = useState(() => (isKept ? readDraft(localStorage, person, place, first) : first));
  const [isRestored, setRestored] = useState(value !== first);
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
    setRestored(false);
    if (isKept) removeDraft(localStorage, person, place);
  };
  return { value, isRestored, set, clear };
}

/**
 * Keeps the fields of a form that changes something. What a person has changed at a place is still there after Back, a reload or
 * Escape. Only the changes are kept, so that what others change in the meantime is shown and not overwritten. `nullable` names
 * the fields that may be emptied. Call `clear` when the changes were saved, or when the person discards them.
 */
export function useFormDraft<T extends object>(
  place: string,
  given: T,
  nullable: readonly (keyof T & string)[] = [],
): {
  /** The fields as they were when the form was opened. */
  initial: T;
  fields: T;
  /** It began with changes that were written before. */
  isRestored: boolean;
  set(change: Partial<T>): void;
  /** Removes what is kept. With new fields, which the service has stored, the form goes on with these. */
  clear(stored?: T): void;
} {
  const { data: me } = useQuery(queries.me());
  const person = me?.id;
  const [initial, setInitial] = useState(given);
  const [fields, setFields] = useState<T>(() => ({
    ...initial,
    ...(person === undefined ? {} : readChanges(localStorage, person, place, initial, nullable)),
  }));
  const [isRestored, setRestored] = useState(() => Object.keys(changedFields(initial, fields)).length > 0);
  const latest = useRef(fields);
  const set = (change: Partial<T>) => {
    latest.current = { ...latest.current, ...change };
    setFields(latest.current);
    if (person !== undefined) writeDraft(localStorage, person, place, changedFields(initial, latest.current), {});
  };
  const clear = (stored?: T) => {
    if (person !== undefined) removeDraft(localStorage, person, place);
    setRestored(false);
    if (stored === undefined) return;
    latest.current = stored;
    setInitial(stored);
    setFields(stored);
  };
  return { initial, fields, isRestored, set, clear };
}
