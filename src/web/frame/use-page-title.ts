import { useEffect } from 'react';

let pageTitle = 'Deckhand';
let count = 0;

function showTitle(): void {
  document.title = count === 0 ? pageTitle : `(${count > 99 ? '99+' : count}) ${pageTitle}`;
}

/** Sets the title of the browser tab, the most specific part first. */
export function usePageTitle(...parts: (string | undefined)[]): void {
  const title = [...parts.filter(Boolean), 'Deckhand'].join(' · ');
  useEffect(() => {
    pageTitle = title;
    showTitle();
  }, [title]);
}

/** Shows the number of tasks that need the person before the title of every page. */
export function showCountInTitle(tasks: number): void {
  count = tasks;
  showTitle();
}
