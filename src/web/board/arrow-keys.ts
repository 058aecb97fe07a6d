import type { KeyboardEvent } from 'react';

/** How many columns and rows each arrow key moves. */
const steps: Record<string, [number, number]> = {
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

/** Moves the focus from card to card with the arrow keys: within a column, and between columns. */
export function onArrowKey(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const step = steps[event.key];
  const item = target.closest<HTMLElement>('li[data-index]');
  if (step === undefined || item === null || !target.dataset.card) return;
  event.preventDefault();
  const [columnStep, rowStep] = step;
  const next = columnStep === 0 ? itemInColumn(item, rowStep) : itemInNextColumn(item, columnStep);
  const link = next?.querySelector<HTMLElement>('[data-card]');
  link?.focus();
  link?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

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
