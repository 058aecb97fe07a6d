import { useLayoutEffect } from 'react';
import { isPressed, type ShortcutName, worksInFields } from './shortcuts.ts';

const openOverlay = 'dialog[open], [role="dialog"], [role="menu"]';

/** Calls a function when its shortcut is pressed. Nothing happens while a dialog or a menu is open. */
export function useShortcuts(actions: { [name in ShortcutName]?: () => void }): void {
  // As soon as the page is in the document: on a busy machine, other effects run noticeably later, and keys would be lost.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || document.querySelector(openOverlay) !== null) return;
      const found = (Object.keys(actions) as ShortcutName[]).find((name) => isPressed(name, event));
      if (found === undefined || (isEditable(event.target) && !worksInFields(found))) return;
      event.preventDefault();
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
