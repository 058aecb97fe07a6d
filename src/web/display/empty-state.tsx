import { Heading } from '@primer/react';
import type { ReactNode } from 'react';

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
