import { CpuIcon, DeviceDesktopIcon, MoonIcon, ProjectIcon, SunIcon } from '@primer/octicons-react';
import { ActionList, ActionMenu, Button, Flash, IconButton } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Link, Outlet, useLocation, useNavigation, useNavigationType, useParams } from 'react-router';
import { Loading, QueryResult } from './display/query-result.tsx';
import { PersonMark } from './display/status-labels.tsx';
import { TimeAgo } from './display/times.tsx';
import { RoleInProject } from './forms/may.tsx';
import { NotAMember } from './frame/not-found-page.tsx';
import { notifyError } from './frame/notices.tsx';
import { forgetPerson } from './frame/personal-storage.ts';
import { ProjectName, ProjectNav } from './frame/project-nav.tsx';
import { dismissErrorsBefore, dismissLinksTo } from './frame/shown-notices.ts';
import { onThemeChange, storedTheme, storeTheme } from './frame/theme.ts';
import { InboxLink } from './inbox/inbox-link.tsx';
import { isInaccessible, statusOf } from './live/errors.ts';
import { useIsOnline } from './live/load-part.ts';
import { useProjectEvents } from './live/project-events.ts';
import * as queries from './live/queries.ts';
import { Commands } from './palette/commands.tsx';

/** Shows the frame of every page: header and navigation. Keeps the live connection of the project open. */
export function Shell() {
  const user = useQuery(queries.me());
  const projectId = useCurrentProject();
  const stream = useProjectEvents(projectId);
  const isOnline = useIsOnline();
  useFreshNotices();
  useTopOfNewPage();
  const project = useQuery({ ...queries.project(projectId ?? ''), enabled: projectId !== undefined });
  // Somebody who was removed from the project sees nothing of it.
  const shownId = isInaccessible(project.error) ? undefined : projectId;
  return (
    <RoleInProject value={project.data?.role}>
      <a href="#content" className="skip">
        Skip to content
      </a>
      <header>
        <div className="top">
          <Link to="/" className="brand">
            <img src="/icon.svg" alt="" width="24" height="24" /> <span className="wide-word">Deckhand</span>
          </Link>
          {shownId && <ProjectName id={shownId} />}
          <span className="grow" />
          {shownId && isOnline && stream.state === 'lost' && <LostStream reason={stream.reason} />}
          {user.data && <Commands projectId={shownId} signOut={() => void signOut()} />}
          {user.data && (
            <Link to="/projects" className="inbox-link">
              <ProjectIcon /> <span className="wide-word">Projects</span>
            </Link>
          )}
          {user.data && (
            <Link to="/sessions" className="inbox-link">
              <CpuIcon /> <span className="wide-word">Sessions</span>
            </Link>
          )}
          {user.data && <InboxLink />}
          <ThemeMenu />
          {user.data && <UserMenu login={user.data.login} avatarUrl={user.data.avatarUrl} />}
          {!user.data && isInaccessible(user.error) && <Button onClick={signOut}>Sign out</Button>}
        </div>
        {shownId && <ProjectNav id={shownId} />}
      </header>
      <NextPageNote />
      <OfflineNote isOnline={isOnline} />
      {shownId && <GitHubNote projectId={shownId} />}
      <main id="content" className="page">
        <QueryResult query={user} isPage>
          {() => (stream.state === 'opening' ? <Loading /> : <PageOfProject projectId={projectId} />)}
        </QueryResult>
      </main>
    </RoleInProject>
  );
}

/** Says that live updates have stopped, and why if the service refuses them. */
function LostStream({ reason }: { reason: string | undefined }) {
  const title = reason || 'Live updates resume when the connection is back.';
  return (
    <output className="muted stream-state" title={title}>
      {reason ? `No live updates: ${reason}` : 'Reconnecting…'}
    </output>
  );
}

/** After these times in ms, a link to a page that is still being loaded gives a sign, and says why nothing happens. */
const [signMs, reasonMs] = [800, 10_000];

/** Shows that the page to which a link leads is being loaded. Until then, the browser shows the page of the link. */
function NextPageNote() {
  const isLoading = useNavigation().state === 'loading';
  const [waited, setWaited] = useState(0);
  useEffect(() => {
    if (!isLoading) return;
    const timers = [signMs, reasonMs].map((ms) => setTimeout(() => setWaited(ms), ms));
    return () => {
      for (const timer of timers) clearTimeout(timer);
      setWaited(0);
    };
  }, [isLoading]);
  return (
    <>
      {waited > 0 && <div className="next-page" role="progressbar" aria-label="Loading the next page" />}
      <div role="status">
        {waited === reasonMs && (
          <p className="offline">The service has not answered for 10 seconds. The next page opens when it does.</p>
        )}
      </div>
    </>
  );
}

/** Says that the browser is offline. What the page shows stays, although it may be outdated. */
function OfflineNote({ isOnline }: { isOnline: boolean }) {
  return (
    <div role="status">
      {!isOnline && (
        <p className="offline">You are offline. The page may be outdated. It is updated when the connection is back.</p>
      )}
    </div>
  );
}

/** Says what keeps GitHub from working for the account of the project. */
function GitHubNote({ projectId }: { projectId: string }) {
  const github = useQuery(queries.project(projectId)).data?.github;
  if (!github?.reason) return null;
  return (
    <Flash variant="warning" role="status">
      {github.reason} {github.since && <TimeAgo at={github.since} />}
    </Flash>
  );
}

/** Shows a page from its top that a link leads to. Going back leaves it to the browser, which knows where the person was. */
function useTopOfNewPage() {
  const { pathname, hash } = useLocation();
  const isNew = useNavigationType() === 'PUSH';
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another page is shown from its top, not another filter
  useEffect(() => {
    if (isNew && hash === '') window.scrollTo(0, 0);
  }, [pathname]);
}

/** Dismisses the errors of a page when the person leaves it, and the notices that led to the next one. */
function useFreshNotices(): void {
  const { pathname } = useLocation();
  useEffect(() => {
    dismissErrorsBefore(Date.now());
    dismissLinksTo(pathname);
  }, [pathname]);
}

/** Shows the current page, or the error if the person has no access to its project. */
function PageOfProject({ projectId }: { projectId: string | undefined }) {
  const project = useQuery({ ...queries.project(projectId ?? ''), enabled: projectId !== undefined });
  if (projectId === undefined || !isInaccessible(project.error)) return <Outlet />;
  if (statusOf(project.error) === 403) return <NotAMember wasMember={project.data !== undefined} />;
  return (
    <QueryResult query={project} isPage>
      {() => null}
    </QueryResult>
  );
}

/**
 * Returns the project of the current page. The addresses of tasks and sprints do not contain it. While one of them loads, it
 * is assumed to belong to the project of the page before, so that the event stream stays open.
 */
function useCurrentProject(): string | undefined {
  const { projectId, taskId, sprintId } = useParams();
  const task = useQuery(queries.taskOfPage(taskId));
  const sprint = useQuery({ ...queries.sprint(sprintId ?? ''), enabled: sprintId !== undefined });
  const before = useRef<string>(undefined);
  const found = projectId ?? task.data?.projectId ?? sprint.data?.projectId;
  const current = found ?? (task.isLoading || sprint.isLoading ? before.current : undefined);
  before.current = current;
  return current;
}

const options = [
  { theme: 'auto', name: 'System', icon: DeviceDesktopIcon },
  { theme: 'light', name: 'Light', icon: SunIcon },
  { theme: 'dark', name: 'Dark', icon: MoonIcon },
] as const;

function ThemeMenu() {
  const current = useSyncExternalStore(onThemeChange, storedTheme);
  const icon = options.find(({ theme }) => theme === current)?.icon ?? DeviceDesktopIcon;
  return (
    <ActionMenu>
      <ActionMenu.Anchor>
        <IconButton icon={icon} aria-label="Theme" variant="invisible" />
      </ActionMenu.Anchor>
      <ActionMenu.Overlay>
        <ActionList selectionVariant="single">
          {options.map(({ theme, name, icon: Icon }) => (
            <ActionList.Item key={theme} selected={theme === current} onSelect={() => storeTheme(theme)}>
              <ActionList.LeadingVisual>
                <Icon />
              </ActionList.LeadingVisual>
              {name}
            </ActionList.Item>
          ))}
        </ActionList>
      </ActionMenu.Overlay>
    </ActionMenu>
  );
}

function UserMenu({ login, avatarUrl }: { login: string; avatarUrl: string }) {
  return (
    <ActionMenu>
      <ActionMenu.Anchor>
        <button type="button" className="user-button" aria-label={`Signed in as ${login}`}>
          <PersonMark login={login} avatarUrl={avatarUrl} size={20} />
        </button>
      </ActionMenu.Anchor>
      <ActionMenu.Overlay align="end">
        <ActionList>
          <ActionList.LinkItem as={Link} to="/settings/mail">
            Mail
          </ActionList.LinkItem>
          <ActionList.LinkItem as={Link} to="/settings/tokens">
            API tokens
          </ActionList.LinkItem>
          <ActionList.LinkItem href="/api/v1/docs/">API documentation</ActionList.LinkItem>
          <ActionList.Divider />
          <ActionList.Item onSelect={signOut}>Sign out</ActionList.Item>
        </ActionList>
      </ActionMenu.Overlay>
    </ActionMenu>
  );
}

async function signOut(): Promise<void> {
  try {
    const { type, ok } = await fetch('/logout', { method: 'POST', redirect: 'manual' });
    if (type !== 'opaqueredirect' && !ok) throw new Error('Signing out failed. You are still signed in. Try again.');
    // The next person who uses this browser must not see the chats and drafts.
    sessionStorage.clear();
    forgetPerson(localStorage);
    window.location.assign('/login');
  } catch (error) {
    notifyError(error);
  }
}
