import type { ReactNode } from 'react';

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
