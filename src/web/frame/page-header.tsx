import { Heading } from '@primer/react';
import type { ReactNode } from 'react';

/** The name of a page, and what can be done on it. */
export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
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
