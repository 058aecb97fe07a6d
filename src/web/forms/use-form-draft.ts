import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import * as queries from '../live/queries.ts';
import { changedFields } from './changed-fields.ts';
import { readChanges, removeDraft, writeDraft } from './stored-drafts.ts';

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
  set(change: Partial<T>): void;
  clear(): void;
} {
  const { data: me } = useQuery(queries.me());
  const person = me?.id;
  const [initial] = useState(given);
  const [fields, setFields] = useState<T>(() => ({
    ...initial,
    ...(person === undefined ? {} : readChanges(localStorage, person, place, initial, nullable)),
  }));
  const latest = useRef(fields);
  const set = (change: Partial<T>) => {
    latest.current = { ...latest.current, ...change };
    setFields(latest.current);
    if (person !== undefined) writeDraft(localStorage, person, place, changedFields(initial, latest.current), {});
  };
  const clear = () => {
    if (person !== undefined) removeDraft(localStorage, person, place);
  };
  return { initial, fields, set, clear };
}
