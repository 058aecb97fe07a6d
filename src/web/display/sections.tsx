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

/** Explains a page or section without content. The children say what to do next. */
export function EmptyState(props: { title: string; as?: 'h1' | 'h2'; children?: ReactNode }) {
  const { title, as = 'h2', children } = props;
  return (
    <div className="empty">
      <Heading as={as} variant="small">
        {title}
      </Heading>
      <div className="muted">{children}</div>
    </div>
  );
}

/** Shows labelled values, side by side as far as they fit. */
export function FactList({ facts }: { facts: Record<string, ReactNode> }) {
  return (
    <dl className="facts">
      {Object.entries(facts).map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
