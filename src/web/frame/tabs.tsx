import { UnderlineNav } from '@primer/react';
import { Link, useSearchParams } from 'react-router';

/**
 * Shows the tabs of a page. `tabs` maps ids to names. The selected tab is in the address; the first tab is the default.
 */
export function Tabs({ tabs, label }: { tabs: Record<string, string>; label: string }) {
  const [searchParams] = useSearchParams();
  const [defaultTab = ''] = Object.keys(tabs);
  const selected = searchParams.get('tab') ?? defaultTab;
  return (
    <UnderlineNav aria-label={label} className="tabs">
      {Object.entries(tabs).map(([id, name]) => (
        <UnderlineNav.Item
          key={id}
          as={Link}
          to={id === defaultTab ? '?' : `?tab=${id}`}
          {...(id === selected ? { 'aria-current': 'page' } : {})}
        >
          {name}
        </UnderlineNav.Item>
      ))}
    </UnderlineNav>
  );
}
