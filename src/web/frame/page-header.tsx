import { Heading } from '@primer/react';
import type { ReactNode } from 'react';

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
