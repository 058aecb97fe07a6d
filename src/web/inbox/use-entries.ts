import { type RefObject, useEffect, useRef, useState } from 'react';
import type { InboxEntry } from '../api.ts';
import { isForPage, useShortcuts } from '../keys/shortcuts.ts';
import { heldBack, keyOf } from './outcome.ts';

/** How far the arrow keys move the focus in the list. */
const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
const overlays = '[role=dialog], [role=alertdialog], [role=menu]';

/**
 * Moves the focus between the entries of a list with j, k and the arrow keys. If the entry with the focus disappears,
 * the focus moves to the entry that takes its place.
 */
export function useEntryFocus(list: RefObject<HTMLElement | null>, entries: readonly unknown[]): void {
  const lastFocused = useRef(-1);
  const move = (step: number) => {
    const at = indexOfFocus(list.current);
    focusEntry(list.current, at < 0 ? Math.max(lastFocused.current, 0) : at + step);
  };
  useShortcuts({ next: () => move(1), previous: () => move(-1) });
  useEffect(() => {
    const onFocus = ({ target }: FocusEvent) => {
      // A dialog or a menu belongs to the entry that has opened it.
      if (!(target as Element).closest(overlays)) lastFocused.current = indexOfFocus(list.current);
    };
    document.addEventListener('focusin', onFocus);
    return () => document.removeEventListener('focusin', onFocus);
  }, [list]);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const step = steps[event.key];
      if (step === undefined || list.current === null || !isForPage(event)) return;
      event.preventDefault();
      move(step);
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus is lost when the entries change
  useEffect(() => {
    if (lastFocused.current < 0 || document.activeElement !== document.body) return;
    // While the focus moves within a dialog, nothing has it for a moment.
    if (document.querySelector(overlays) !== null) return;
    focusEntry(list.current, Math.min(lastFocused.current, linksOf(list.current).length - 1));
  }, [list, entries]);
}

const linksOf = (list: HTMLElement | null) => [...(list?.querySelectorAll<HTMLElement>('[data-entry]') ?? [])];

/** Returns the place of the entry that has the focus, in any of its parts; -1 if none has it. */
function indexOfFocus(list: HTMLElement | null): number {
  const item = document.activeElement?.closest('.inbox-entry');
  return linksOf(list).findIndex((link) => item?.contains(link));
}

/** Moves the focus to the title of an entry, if there is one. */
function focusEntry(list: HTMLElement | null, index: number): void {
  const link = linksOf(list)[index];
  link?.focus();
  link?.scrollIntoView({ block: 'nearest' });
}

/** A finger is over nothing before it touches, so there a new entry always waits. */
const isTouch = () => window.matchMedia('(hover: none)').matches;

/**
 * Returns the entries to show and those that wait. While the person points at the list, new entries do not move the others, so
 * that nobody decides another entry than the one they saw. A keyboard acts on what has the focus, wherever that moves.
 */
export function useHeldEntries(list: RefObject<HTMLElement | null>, entries: InboxEntry[]) {
  const [isPointed, setPointed] = useState(false);
  const isHeld = isPointed || isTouch();
  const known = useRef<ReadonlySet<string>>(new Set());
  const [, rerender] = useState(0);
  const { shown, waiting } = isHeld ? heldBack(known.current, entries) : { shown: entries, waiting: [] };
  useEffect(() => {
    known.current = new Set(shown.map(keyOf));
  });
  // Dialogs and menus of entries are not in the list, and an entry that disappears tells nobody that the pointer has left it.
  useEffect(() => {
    const onPointerOver = ({ target }: PointerEvent) => setPointed(list.current?.contains(target as Node) ?? false);
    document.addEventListener('pointerover', onPointerOver);
    return () => document.removeEventListener('pointerover', onPointerOver);
  }, [list]);
  const showAll = () => {
    known.current = new Set(entries.map(keyOf));
    rerender((n) => n + 1);
  };
  return { shown, waiting, showAll };
}
