import { Button } from '@primer/react';
import { useEffect, useState } from 'react';
import { isRouteErrorResponse, type RouteObject, useRouteError } from 'react-router';
import { EmptyState } from './display/sections.tsx';
import { FirstScreen } from './frame/first-screen.tsx';
import { NotFoundPage } from './frame/not-found-page.tsx';
import { errorMessage, isConnectionError, statusOf } from './live/errors.ts';
import { Shell } from './shell.tsx';

/** The pages inside the frame. Each is loaded when it is first opened. */
const pages: RouteObject[] = [
  { index: true, lazy: async () => ({ Component: (await import('./inbox/inbox-page.tsx')).InboxPage }) },
  {
    path: 'projects',
    lazy: async () => ({ Component: (await import('./projects/projects-page.tsx')).ProjectsPage }),
  },
  {
    path: 'spend',
    lazy: async () => ({ Component: (await import('./spend/all-spend-page.tsx')).AllSpendPage }),
  },
  {
    path: 'sessions',
    lazy: async () => ({ Component: (await import('./runs/sessions-page.tsx')).SessionsPage }),
  },
  { path: 'inbox', lazy: async () => ({ Component: (await import('./inbox/inbox-page.tsx')).InboxPage }) },
  {
    path: 'projects/:projectId',
    children: [
      { index: true, lazy: async () => ({ Component: (await import('./board/board-page.tsx')).BoardPage }) },
      {
        path: 'backlog',
        lazy: async () => ({ Component: (await import('./board/backlog-page.tsx')).BacklogPage }),
      },
      {
        path: 'sprints',
        lazy: async () => ({ Component: (await import('./sprints/sprints-page.tsx')).SprintsPage }),
      },
      { path: 'plan', lazy: async () => ({ Component: (await import('./planning/plan-page.tsx')).PlanPage }) },
      {
        path: 'plan/:sessionId',
        lazy: async () => ({ Component: (await import('./planning/wizard-page.tsx')).WizardPage }),
      },
      {
        path: 'automations',
        lazy: async () => ({ Component: (await import('./automations/automations-page.tsx')).AutomationsPage }),
      },
      { path: 'agents', lazy: async () => ({ Component: (await import('./agents/agents-page.tsx')).AgentsPage }) },
      {
        path: 'agents/:agentId',
        lazy: async () => ({ Component: (await import('./agents/agent-page.tsx')).AgentPage }),
      },
      { path: 'spend', lazy: async () => ({ Component: (await import('./spend/spend-page.tsx')).SpendPage }) },
      { path: 'pool', lazy: async () => ({ Component: (await import('./runs/runs-page.tsx')).RunsPage }) },
      {
        path: 'settings',
        lazy: async () => ({ Component: (await import('./settings/settings-page.tsx')).SettingsPage }),
      },
      {
        path: 'settings/audit',
        lazy: async () => ({ Component: (await import('./audit/audit-page.tsx')).AuditPage }),
      },
      {
        path: 'repositories',
        lazy: async () => ({ Component: (await import('./repositories/repositories-page.tsx')).RepositoriesPage }),
      },
      {
        path: 'repositories/:repositoryId',
        lazy: async () => ({ Component: (await import('./environment/environment-page.tsx')).EnvironmentPage }),
      },
      {
        path: 'repositories/:repositoryId/proofs',
        lazy: async () => ({ Component: (await import('./proofs/proofs-page.tsx')).ProofsPage }),
      },
      {
        path: 'repositories/:repositoryId/benchmark',
        lazy: async () => ({ Component: (await import('./lab/benchmark-page.tsx')).BenchmarkPage }),
      },
      {
        path: 'repositories/:repositoryId/portfolio',
        lazy: async () => ({ Component: (await import('./trials/portfolio-page.tsx')).PortfolioPage }),
      },
      {
        path: 'members',
        lazy: async () => ({ Component: (await import('./settings/members-page.tsx')).MembersPage }),
      },
    ],
  },
  { path: 'tasks/:taskId', lazy: async () => ({ Component: (await import('./tasks/task-page.tsx')).TaskPage }) },
  {
    path: 'tasks/:taskId/runs/:runId',
    lazy: async () => ({ Component: (await import('./runs/run-page.tsx')).RunPage }),
  },
  {
    path: 'sprints/:sprintId',
    lazy: async () => ({ Component: (await import('./sprints/sprint-page.tsx')).SprintPage }),
  },
  {
    path: 'settings/mail',
    lazy: async () => ({ Component: (await import('./account/mail-page.tsx')).MailPage }),
  },
  {
    path: 'settings/tokens',
    lazy: async () => ({ Component: (await import('./account/api-tokens-page.tsx')).ApiTokensPage }),
  },
  {
    path: '*',
    Component: NotFoundPage,
  },
];

/** The addresses of the dashboard. The frame stays when a page cannot be loaded. */
export const routes: RouteObject[] = [
  {
    path: '/login',
    HydrateFallback: () => null,
    lazy: async () => ({ Component: (await import('./account/login-page.tsx')).LoginPage }),
  },
  {
    path: '/',
    Component: Shell,
    ErrorBoundary: FrameError,
    HydrateFallback: FirstScreen,
    children: [{ ErrorBoundary: PageError, children: pages }],
  },
];

/** Replaces the frame, which has a fault itself. */
function FrameError() {
  return (
    <main className="page">
      <PageError />
    </main>
  );
}

/**
 * Replaces a page that failed to load or to render. Loading fails, for example, after an update, which removes the old
 * script files.
 */
function PageError() {
  const error = useRouteError();
  const isMissing = error instanceof TypeError && /import|fetch/i.test(error.message);
  const isOutdated = useIsOutdated(isMissing);
  return (
    <EmptyState as="h1" title={titleOf(isMissing, isOutdated)}>
      <p className="wrap">{isMissing ? missingText(isOutdated) : messageOf(error)}</p>
      <Button variant="primary" onClick={() => window.location.reload()}>
        Reload
      </Button>{' '}
      <a href="/">Go to the inbox</a>
    </EmptyState>
  );
}

function titleOf(isMissing: boolean, isOutdated: boolean): string {
  if (isOutdated) return 'A new version is available';
  return isMissing ? 'This page could not be loaded' : 'Something went wrong on this page';
}

const missingText = (isOutdated: boolean) =>
  isOutdated ? 'Reload the page to use it.' : 'Check your connection, and reload the page.';

/** Returns whether the service has other scripts than those of this page. Until it has answered, it has not. */
function useIsOutdated(isAsked: boolean): boolean {
  const [isOutdated, setOutdated] = useState(false);
  useEffect(() => {
    if (!isAsked) return;
    const script = document.querySelector<HTMLScriptElement>('script[type=module][src]')?.getAttribute('src') ?? '';
    // The service answers other types with JSON.
    fetch('/', { cache: 'no-store', headers: { Accept: 'text/html' } })
      .then(async (reply) => setOutdated(reply.ok && !(await reply.text()).includes(script)))
      .catch(() => {});
  }, [isAsked]);
  return isOutdated;
}

const faultText = 'The page has a fault. Reload it. If it fails again, tell the operator of this service what you did.';

function messageOf(error: unknown): string {
  if (isRouteErrorResponse(error)) return error.statusText;
  // What a script says of its own mistakes helps nobody here. The console has it.
  return statusOf(error) === undefined && !isConnectionError(error) ? faultText : errorMessage(error);
}
