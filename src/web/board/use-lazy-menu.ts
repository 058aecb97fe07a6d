import { type RefObject, useRef, useState } from 'react';

/** What a menu needs to know about its button. */
export interface LazyMenu {
  anchorRef: RefObject<HTMLButtonElement | null>;
  isOpen: boolean;
  onOpenChange(isOpen: boolean): void;
}

/**
 * The state of a menu that is loaded when its button is first pressed; until then `menu` is undefined. Pressing the
 * button again closes the menu.
 */
export function useLazyMenu() {
  const anchorRef = useRef<HTMLButtonElement>(null);
  const [isOpen, onOpenChange] = useState<boolean>();
  const menu: LazyMenu | undefined = isOpen === undefined ? undefined : { anchorRef, isOpen, onOpenChange };
  const button = {
    ref: anchorRef,
    'aria-haspopup': true,
    'aria-expanded': isOpen ?? false,
    onClick: () => onOpenChange(!isOpen),
  } as const;
  return { button, menu };
}
