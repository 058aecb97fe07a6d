import { useLayoutEffect } from 'react';
import { typeAhead } from './type-ahead.ts';

/** A keyboard shortcut. `key` is one of `KeyboardEvent.key`, with `Mod+` for Ctrl, or Cmd on a Mac. */
interface Shortcut {
  key: string;
  where: 'Everywhere' | 'In the inbox' | 'On the board' | 'In the changes of a task' | 'In text fields';
  does: string;
}

/** All keyboard shortcuts of the dashboard. Pages attach functions to them, and `?` lists them. */
export const shortcuts = {
  palette: { key: 'Mod+k', where: 'Everywhere', does: 'Open the command palette' },
  keys: { key: '?', where: 'Everywhere', does: 'List the keyboard shortcuts' },
  next: { key: 'j', where: 'In the inbox', does: 'Go to the next task (also ↓)' },
  previous: { key: 'k', where: 'In the inbox', does: 'Go to the previous task (also ↑)' },
  openTask: { key: 'Enter', where: 'In the inbox', does: 'Open the task' },
  newTask: { key: 'n', where: 'On the board', does: 'Create a task' },
  search: { key: '/', where: 'On the board', does: 'Search tasks' },
  move: { key: 'ArrowKeys', where: 'On the board', does: 'Move between cards' },
  open: { key: 'Enter', where: 'On the board', does: 'Open the focused card' },
  selectCard: { key: 'x', where: 'On the board', does: 'Select or deselect the focused card' },
  actOnSelected: { key: 'a', where: 'On the board', does: 'Go to the actions for the selected cards' },
  line: { key: 'UpDown', where: 'In the changes of a task', does: 'Move between the lines of a file (after Tab)' },
  comment: { key: 'Enter', where: 'In the changes of a task', does: 'Comment on the focused line' },
  send: { key: 'Mod+Enter', where: 'In text fields', does: 'Send the text, or create and start a new task' },
} as const satisfies Record<string, Shortcut>;

export type ShortcutName = keyof typeof shortcuts;

interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** Returns whether these keys are a shortcut. */
export function isPressed(name: ShortcutName, { key, ctrlKey, metaKey, altKey, shiftKey }: Pressed): boolean {
  const wanted: string = shortcuts[name].key;
  const isWithMod = wanted.startsWith('Mod+');
  // With Caps Lock, letters arrive in upper case.
  const isSame = key.toLowerCase() === wanted.replace('Mod+', '').toLowerCase();
  // Ctrl+Shift+K belongs to browsers, and `?` needs Shift on most keyboards.
  return isSame && (ctrlKey || metaKey) === isWithMod && !altKey && !(isWithMod && shiftKey);
}

/** Returns whether a shortcut also works while people write. Others would type their letter. */
function worksInFields(name: ShortcutName): boolean {
  return shortcuts[name].key.startsWith('Mod+');
}

/** Shortcuts after which people go on to type, into the dialog that opens. */
const isForTyping: ReadonlySet<ShortcutName> = new Set(['newTask', 'palette']);

/** Returns the keys of a shortcut as they are printed on the keyboard. */
export function keyNames(name: ShortcutName, isMac: boolean): string[] {
  const keys = shortcuts[name].key.split('+');
  return keys.map((key) => {
    if (key === 'Mod') return isMac ? '⌘' : 'Ctrl';
    if (key === 'ArrowKeys') return '← ↑ ↓ →';
    if (key === 'UpDown') return '↑ ↓';
    return keys.length > 1 && key.length === 1 ? key.toUpperCase() : key;
  });
}

/** Returns the value of `aria-keyshortcuts` for a shortcut. */
export function ariaKeys(name: ShortcutName): string {
  const { key } = shortcuts[name];
  return key.startsWith('Mod+') ? `${key.replace('Mod', 'Control')} ${key.replace('Mod', 'Meta')}` : key;
}

const openOverlay = 'dialog[open], [role="dialog"], [role="menu"]';

/** What uses the arrow keys itself: fields, tabs, and buttons that open menus. */
const usesArrows = 'input:not([type=checkbox]), textarea, select, [contenteditable], [role=tablist], [aria-haspopup]';

/** Returns whether an arrow key means the page, and not what has the focus. */
export function isForPage(event: KeyboardEvent): boolean {
  const { target, ctrlKey, metaKey, altKey, shiftKey, defaultPrevented } = event;
  if (defaultPrevented || ctrlKey || metaKey || altKey || shiftKey || !(target instanceof HTMLElement)) return false;
  return target.closest(usesArrows) === null && document.querySelector(openOverlay) === null;
}

/** Calls a function when its shortcut is pressed. Nothing happens while a dialog or a menu is open. */
export function useShortcuts(actions: { [name in ShortcutName]?: () => void }): void {
  // As soon as the page is in the document: on a busy machine, other effects run noticeably later, and keys would be lost.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || document.querySelector(openOverlay) !== null) return;
      const found = (Object.keys(actions) as ShortcutName[]).find((name) => isPressed(name, event));
      if (found === undefined || (isEditable(event.target) && !worksInFields(found))) return;
      event.preventDefault();
      if (isForTyping.has(found)) typeAhead();
      actions[found]?.();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  });
}

/**
 * Returns whether people write in an element, or choose in it by typing. The field of a dialog that was closed keeps the
 * focus until the browser draws the page, but nobody writes in it.
 */
const isEditable = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox]), textarea, select')) &&
  target.checkVisibility();
