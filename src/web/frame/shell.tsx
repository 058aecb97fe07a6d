import { ProjectIcon } from '@primer/octicons-react';
import { Flash } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link, Outlet, useLocation } from 'react-router';
import { Loading, QueryResult } from '../display/query-result.tsx';
import { TimeAgo } from '../display/times.tsx';
import { InboxLink } from '../inbox/inbox-link.tsx';
import { isInaccessible } from '../live/errors.ts';
import { useIsOnline } from '../live/online.ts';
import { useProjectEvents } from '../live/project-events.ts';
import * as queries from '../live/queries.ts';
import { Commands } from '../palette/commands.tsx';
import { useCurrentProject } from './current-project.ts';
import { ProjectName, ProjectNav } from './project-nav.tsx';
import { dismissErrorsBefore } from './shown-notices.ts';
import { ThemeMenu } from './theme-menu.tsx';
import { UserMenu } from './user-menu.tsx';

/** Shows the frame of every page: header and navigation. Keeps the live connection of the project open. */
export function Shell() {
  const user = useQuery(queries.me());
  const projectId = useCurrentProject();
  const stream = useProjectEvents(projectId);
  const isOnline = useIsOnline();
  useFreshNotices();
  return (
    <>
      <a href="#content" className="skip">
        Skip to content
      </a>
      <header>
        <div className="top">
          <Link to="/" className="brand">
            <img src="/icon.svg" alt="" width="24" height="24" /> <span className="wide-word">Deckhand</span>
          </Link>
          {projectId && <ProjectName id={projectId} />}
          <span className="grow" />
          {projectId && isOnline && stream === 'lost' && (
            <output className="muted stream-state" title="Live updates resume when the connection is back.">
              Reconnecting…
            </output>
          )}
          {user.data && <Commands projectId={projectId} />}
          {user.data && (
            <Link to="/projects" className="inbox-link">
              <ProjectIcon /> <span className="wide-word">Projects</span>
            </Link>
          )}
          {user.data && <InboxLink />}
          <ThemeMenu />
          {user.data && <UserMenu login={user.data.login} avatarUrl={user.data.avatarUrl} />}
        </div>
        {projectId && <ProjectNav id={projectId} />}
      </header>
      <OfflineNote isOnline={isOnline} />
      {projectId && <GitHubNote projectId={projectId} />}
      <main id="content" className="page">
        <QueryResult query={user} isPage>
          {() => (stream === 'opening' ? <Loading /> : <PageOfProject projectId={projectId} />)}
        </QueryResult>
      </main>
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

/** Dismisses the errors of a page when the person leaves it. */
function useFreshNotices(): void {
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when the address changes
  useEffect(() => dismissErrorsBefore(Date.now()), [pathname]);
}

/** Shows the current page, or the error if the person has no access to its project. */
function PageOfProject({ projectId }: { projectId: string | undefined }) {
  const project = useQuery({ ...queries.project(projectId ?? ''), enabled: projectId !== undefined });
  if (projectId === undefined || !isInaccessible(project.error)) return <Outlet />;
  return (
    <QueryResult query={project} isPage>
      {() => null}
    </QueryResult>
  );
}
