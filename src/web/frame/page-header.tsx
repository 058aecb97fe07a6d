import { Heading } from '@primer/react';
import { type ReactNode, useEffect } from 'react';

/** Shows the heading of a page, with its actions beside it. */
export function PageHeader({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="row wrap-row page-head">
      <Heading as="h1" variant="medium">
        {title}
      </Heading>
      <span className="grow" />
      {children}
    </div>
  );
}

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
