import './inbox.css';
import { Button } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { InboxEntry } from '../api.ts';
import { formatNumber } from '../display/formats.ts';
import { QueryResult } from '../display/query-result.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { OnboardingOfNewest } from '../onboarding/checklist.tsx';
import { EmptyInbox } from './empty-inbox.tsx';
import { Entry } from './entry.tsx';
import { NotificationButton } from './notification-button.tsx';
import { keyOf } from './outcome.ts';
import { UnassignedSecrets } from './unassigned-secrets.tsx';
import { useDepartures } from './use-departures.ts';
import { useEntryFocus } from './use-entry-focus.ts';

/** Each shown entry loads its task, so a long list is shown in portions of this size. */
const portion = 20;

/** Shows what needs the person in all projects, and lets them decide it here. */
export function InboxPage() {
  usePageTitle('Inbox');
  // The link in the header fetches it.
  const query = useQuery({ ...queries.inbox(), enabled: false });
  return (
    <div className="narrow">
      <PageHeader title="Inbox">
        <NotificationButton />
      </PageHeader>
      <UnassignedSecrets />
      <QueryResult query={query}>{(entries) => <EntryList entries={entries} />}</QueryResult>
    </div>
  );
}

function EntryList({ entries }: { entries: InboxEntry[] }) {
  const [maxShown, setMaxShown] = useState(portion);
  const list = useRef<HTMLUListElement>(null);
  useDepartures(entries);
  useEntryFocus(list, entries);
  if (entries.length === 0)
    return (
      <>
        <OnboardingOfNewest />
        <EmptyInbox />
      </>
    );
  const hidden = entries.length - maxShown;
  return (
    <>
      <p className="muted small keys-hint">
        <kbd>j</kbd> and <kbd>k</kbd> move between entries, <kbd>Enter</kbd> opens one.
      </p>
      <ul className="list" aria-label="Tasks that need a person" ref={list} data-moves-focus>
        {entries.slice(0, maxShown).map((entry) => (
          <Entry key={keyOf(entry)} entry={entry} />
        ))}
      </ul>
      {hidden > 0 && (
        <Button onClick={() => setMaxShown((shown) => shown + portion)}>
          Show {Math.min(portion, hidden)} more of {formatNumber(entries.length)}
        </Button>
      )}
      <OnboardingOfNewest />
    </>
  );
}
