import { type RefObject, useEffect, useRef } from 'react';
import { isForPage } from '../keys/shortcuts.ts';

/** How many columns and rows each arrow key moves. */
const steps: Record<string, [number, number]> = {
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

/**
 * Moves the focus from card to card with the arrow keys: within a column, and between columns. From outside the cards it
 * moves to the card that had it last, otherwise to the first card.
 */
export function useCardFocus(board: RefObject<HTMLElement | null>): void {
  const lastId = useRef<string>(undefined);
  useEffect(() => {
    const onFocus = () => {
      const id = document.activeElement?.closest('.card')?.querySelector<HTMLElement>('[data-card]')?.dataset.card;
      lastId.current = id ?? lastId.current;
    };
    const onKeyDown = (event: KeyboardEvent) => {
      const step = steps[event.key];
      if (step === undefined || board.current === null || !isForPage(event)) return;
      const item = (event.target as Element).closest<HTMLElement>('li[data-index]');
      const next = item === null ? entryOf(board.current, lastId.current) : neighbour(item, step);
      event.preventDefault();
      const link = next?.querySelector<HTMLElement>('[data-card]');
      link?.focus();
      link?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    };
    document.addEventListener('focusin', onFocus);
    window.addEventListener('keydown', onKeyDown);
    return () => {
      document.removeEventListener('focusin', onFocus);
      window.removeEventListener('keydown', onKeyDown);
    };
  }, [board]);
}

/** Returns the card at which the arrow keys enter the board. */
function entryOf(board: HTMLElement, lastId: string | undefined): Element | null | undefined {
  const last = lastId && board.querySelector(`[data-card="${CSS.escape(lastId)}"]`)?.closest('li[data-index]');
  return last || board.querySelector('li[data-index]');
}

const neighbour = (item: HTMLElement, [columnStep, rowStep]: [number, number]) =>
  columnStep === 0 ? itemInColumn(item, rowStep) : itemInNextColumn(item, columnStep);

function itemInColumn(item: HTMLElement, rowStep: number): Element | null | undefined {
  return item.closest('.column')?.querySelector(`li[data-index="${Number(item.dataset.index) + rowStep}"]`);
}

/** Returns the first card of the next non-empty column in that direction. */
function itemInNextColumn(item: HTMLElement, columnStep: number): Element | null | undefined {
  let column: Element | null | undefined = item.closest('.column');
  do {
    column = columnStep < 0 ? column?.previousElementSibling : column?.nextElementSibling;
  } while (column?.classList.contains('column') && column.querySelector('li[data-index]') === null);
  return column?.querySelector('li[data-index]');
}
