import { type RefObject, useLayoutEffect, useRef } from 'react';
import { useLocation } from 'react-router';

/** Where columns were scrolled to, by entry of the browser's history and column. */
const offsets = new Map<string, number>();
const maxOffsets = 200;

/** Remembers a scroll position. The oldest is forgotten when there are too many. */
function remember(key: string, offset: number): void {
  offsets.delete(key);
  if (offset > 0) offsets.set(key, offset);
  const [oldest] = offsets.keys();
  if (offsets.size > maxOffsets && oldest !== undefined) offsets.delete(oldest);
}

/**
 * Scrolls an element to where it was when the person left this entry of the browser's history, so that going back shows the
 * same cards. Returns that position, for lists that render only what is visible.
 */
export function useScrollMemory(element: RefObject<HTMLElement | null>, name: string): number {
  const key = `${useLocation().key} ${name}`;
  const latest = useRef(key);
  latest.current = key;
  const restored = useRef(offsets.get(key) ?? 0);
  useLayoutEffect(() => {
    const scroller = element.current;
    if (scroller === null) return;
    scroller.scrollTop = restored.current;
    // The element is still in the document when this runs. Filters replace the entry, so the key may have changed.
    return () => remember(latest.current, scroller.scrollTop);
  }, [element]);
  return restored.current;
}
