import { useCallback, useRef, useState } from 'react';
import { notify } from '../frame/notices.tsx';
import { maxSelected, type Selection, withToggled } from './selection.ts';

/** Keeps the selected tasks of the board, at most a hundred. */
export function useSelection(): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const current = useRef(ids);
  current.current = ids;
  const toggle = useCallback((id: string) => {
    const next = withToggled(current.current, id);
    if (next === undefined) notify(`You can select at most ${maxSelected} tasks.`);
    else setIds(next);
  }, []);
  const replace = useCallback((next: Iterable<string>) => setIds(new Set([...next].slice(0, maxSelected))), []);
  return { ids, toggle, replace };
}
