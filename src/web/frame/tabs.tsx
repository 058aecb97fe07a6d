import { UnderlineNav } from '@primer/react';
import { Link, useSearchParams } from 'react-router';

/** Parts of a page, the chosen one in the address; the first is the one without a word there. */
export function Tabs({ tabs, label }: { tabs: Record<string, string>; label: string }) {
  const [query] = useSearchParams();
  const [first = ''] = Object.keys(tabs);
  const here = query.get('tab') ?? first;
  return (
    <UnderlineNav aria-label={label} className="tabs">
      {Object.entries(tabs).map(([id, name]) => (
        <UnderlineNav.Item
          key={id}
          as={Link}
          to={id === first ? '?' : `?tab=${id}`}
          {...(id === here ? { 'aria-current': 'page' } : {})}
        >
          {name}
        </UnderlineNav.Item>
      ))}
    </UnderlineNav>
  );
}
