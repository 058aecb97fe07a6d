import { Heading } from '@primer/react';
import type { ReactNode } from 'react';

/** Shows a framed part of a page with a heading. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="box" aria-label={title}>
      <Heading as="h2" variant="small">
        {title}
      </Heading>
      {children}
    </section>
  );
}
