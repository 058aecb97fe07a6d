import './inbox.css';
import { BellIcon, BellSlashIcon } from '@primer/octicons-react';
import { Button, Flash, SegmentedControl } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Link, useSearchParams } from 'react-router';
import { hasRole } from '../../domain/agent.ts';
import type { InboxEntry, Project } from '../api.ts';
import { formatNumber, plural } from '../display/formats.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { notify } from '../frame/notices.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { OnboardingOfNewest } from '../onboarding/checklist.tsx';
import { Entry } from './entry.tsx';
import { notificationState, turnOffNotifications, turnOnNotifications } from './notifications.ts';
import { departedEntries, isAboutTask, keyOf, outcomeOf } from './outcome.ts';
import { findTask, takeAnnounced } from './use-decision.ts';
import { useEntryFocus, useHeldEntries } from './use-entries.ts';

/** Each shown entry loads its task, so a long list is shown in portions of this size. */
const portion = 20;

type Scope = (typeof queries.inboxScopes)[number];
const scopeNames: Record<Scope, string> = { mine: 'Mine', all: 'All', snoozed: 'Snoozed' };

/** Shows what needs the person in all projects, and lets them decide it here. */
export function InboxPage() {
  usePageTitle('Inbox');
  const [params, setParams] = useSearchParams();
  const scope = queries.inboxScopes.find((each) => each === params.get('scope')) ?? 'mine';
  // The link in the header fetches what is theirs.
  const query = useQuery({ ...queries.inbox(scope), enabled: scope !== 'mine' });
  return (
    <div className="narrow">
      <PageHeader title="Inbox">
        <SegmentedControl
          aria-label="Which tasks"
          onChange={(i) => setParams(i === 0 ? {} : { scope: queries.inboxScopes[i] ?? 'mine' }, { replace: true })}
        >
          {queries.inboxScopes.map((each) => (
            <SegmentedControl.Button key={each} selected={scope === each}>
              {scopeNames[each]}
            </SegmentedControl.Button>
          ))}
        </SegmentedControl>
        <NotificationButton />
      </PageHeader>
      <UnassignedSecrets />
      <QueryResult query={query}>{(entries) => <EntryList key={scope} entries={entries} scope={scope} />}</QueryResult>
    </div>
  );
}

function EntryList({ entries, scope }: { entries: InboxEntry[]; scope: Scope }) {
  const [maxShown, setMaxShown] = useState(portion);
  const list = useRef<HTMLUListElement>(null);
  useDepartures(entries, scope);
  const { shown, waiting, showAll } = useHeldEntries(list, entries);
  useEntryFocus(list, shown);
  if (entries.length === 0 && scope === 'snoozed')
    return (
      <EmptyState title="Nothing is snoozed">
        <p>What you snooze is here until it returns to the inbox.</p>
        <p>
          <Link to="/">Show what needs you</Link>
        </p>
      </EmptyState>
    );
  if (entries.length === 0)
    return (
      <>
        <OnboardingOfNewest />
        <EmptyInbox scope={scope} />
      </>
    );
  const hidden = shown.length - maxShown;
  const onShowAll = () => {
    flushSync(showAll);
    window.scrollTo(0, 0);
    list.current?.querySelector<HTMLElement>('[data-entry]')?.focus({ preventScroll: true });
  };
  return (
    <>
      <p className="muted small keys-hint">
        <kbd>j</kbd> and <kbd>k</kbd> move between entries, <kbd>Enter</kbd> opens one.
      </p>
      <ul className="list" aria-label="Tasks that need a person" ref={list} data-moves-focus>
        {shown.slice(0, maxShown).map((entry) => (
          <Entry key={keyOf(entry)} entry={entry} />
        ))}
      </ul>
      {hidden > 0 && (
        <Button onClick={() => setMaxShown((shown) => shown + portion)}>
          Show {Math.min(portion, hidden)} more of {formatNumber(shown.length)}
        </Button>
      )}
      <div role="status" className="new-entries">
        {waiting.length > 0 && (
          <Button variant="primary" onClick={onShowAll}>
            Show {waiting.length === 1 ? '1 new entry' : `${formatNumber(waiting.length)} new entries`}
          </Button>
        )}
      </div>
      <OnboardingOfNewest />
    </>
  );
}

/** Says that nothing waits for the person, and what they can do next. */
function EmptyInbox({ scope }: { scope: Scope }) {
  const { data: known } = useQuery(queries.projects());
  const projects = known ?? [];
  const worked = projects.find(({ role }) => hasRole(role, 'member'));
  const [viewed] = projects;
  return (
    <EmptyState title="Nothing needs you">
      <p>
        Plans and changes to approve, questions from agents, paused runs, work to review and failed runs of all your
        projects appear here, unless {scope === 'mine' && 'other people are responsible for them or '}you have{' '}
        <Link to="/?scope=snoozed">snoozed</Link> them.
      </p>
      {scope === 'mine' && worked !== undefined && (
        <p>
          <Link to="/?scope=all">Show what needs others, too</Link>
        </p>
      )}
      {known !== undefined && viewed === undefined && (
        <p>
          <Link to="/projects">Create a project</Link> to begin.
        </p>
      )}
      {worked !== undefined && <Next project={worked} hasOthers={projects.length > 1} />}
      {worked === undefined && viewed !== undefined && <Viewed project={viewed} />}
    </EmptyState>
  );
}

function Next({ project: { id, name }, hasOthers }: { project: Project; hasOthers: boolean }) {
  return (
    <p>
      In <bdi>{name}</bdi>, you can <Link to={`/projects/${id}?new=one`}>create a task</Link>,{' '}
      <Link to={`/projects/${id}/plan`}>plan a goal</Link> or{' '}
      <Link to={`/projects/${id}/pool`}>see what is running</Link>.
      {hasOthers && (
        <>
          {' '}
          Or <Link to="/projects">choose another project</Link>.
        </>
      )}
    </p>
  );
}

/** What the inbox of a person says who decides nothing anywhere. */
function Viewed({ project: { id, name } }: { project: Project }) {
  return (
    <p>
      You are a viewer of <bdi>{name}</bdi>: you can follow <Link to={`/projects/${id}`}>its board</Link> and{' '}
      <Link to={`/projects/${id}/pool`}>see what is running</Link>. To create or approve something, ask an admin of the
      project to make you a member, or <Link to="/projects">create a project</Link> of your own.
    </p>
  );
}

/** Turns the notifications of this browser on and off. The browser is asked for its permission only here. */
function NotificationButton() {
  const [state, setState] = useState(notificationState);
  if (state === 'unsupported') return null;
  const turnOff = () => {
    turnOffNotifications();
    setState('off');
  };
  const turnOn = async () => {
    if (!(await turnOnNotifications()))
      notify('Your browser blocks notifications from this site. Allow them in the settings of the browser.', 'danger');
    setState(notificationState());
  };
  return state === 'on' ? (
    <Button leadingVisual={BellSlashIcon} onClick={turnOff}>
      Turn off notifications
    </Button>
  ) : (
    <Button leadingVisual={BellIcon} onClick={() => void turnOn()}>
      Turn on notifications
    </Button>
  );
}

/** At most this many secrets of a project are named. Its settings have all. */
const maxNamed = 5;

/** Asks admins to assign the secrets that no set-up can use, such as those from before an upgrade. */
function UnassignedSecrets() {
  const { data: unassigned = [] } = useQuery(queries.unassignedSecrets());
  const { data: projects = [] } = useQuery({ ...queries.projects(), enabled: unassigned.length > 0 });
  if (unassigned.length === 0) return null;
  return (
    <Flash variant="warning">
      <strong>Some environment secrets belong to no repository, so set-up cannot use them:</strong>
      <ul>
        {unassigned.map(({ projectId, names }) => (
          <li key={projectId} className="wrap">
            {names.slice(0, maxNamed).join(', ')}
            {names.length > maxNamed && ` and ${names.length - maxNamed} more`} in{' '}
            <Link to={`/projects/${projectId}/settings`}>
              the settings of <bdi>{projects.find(({ id }) => id === projectId)?.name ?? 'a project'}</bdi>
            </Link>
          </li>
        ))}
      </ul>
    </Flash>
  );
}

/** If more entries than this disappear at the same time, one notice counts them. */
const maxNotices = 2;

/** Says what became of entries that somebody else decided while the inbox is open. Snoozed ones return without a word. */
function useDepartures(entries: InboxEntry[], scope: Scope): void {
  const before = useRef(entries);
  const { data: me } = useQuery(queries.me());
  useEffect(() => {
    const departed = departedEntries(before.current, entries)
      .filter(isAboutTask)
      .filter((entry) => !takeAnnounced(entry));
    before.current = entries;
    if (scope === 'snoozed') return;
    if (departed.length > maxNotices) return notify(`${plural(departed.length, 'task')} no longer need you.`);
    for (const entry of departed)
      findTask(entry.taskId).then(
        (task) => notify(outcomeOf(entry, task, me?.id)),
        () => notify(`“${entry.title}” no longer needs you.`),
      );
  }, [entries, me?.id, scope]);
}
