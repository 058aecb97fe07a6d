import type { RouteObject } from 'react-router';
import { BrokenPage } from './parts/empty.tsx';
import { Shell } from './shell.tsx';

/** The addresses of the dashboard. Each page is loaded when it is asked for; an address says all that a page shows. */
export const routes: RouteObject[] = [
  { path: '/login', lazy: async () => ({ Component: (await import('./pages/login.tsx')).LoginPage }) },
  {
    path: '/',
    Component: Shell,
    ErrorBoundary: BrokenPage,
    HydrateFallback: () => null,
    children: [
      { index: true, lazy: async () => ({ Component: (await import('./pages/projects.tsx')).ProjectsPage }) },
      {
        path: 'projects/:projectId',
        children: [
          { index: true, lazy: async () => ({ Component: (await import('./pages/board.tsx')).BoardPage }) },
          { path: 'backlog', lazy: async () => ({ Component: (await import('./pages/backlog.tsx')).BacklogPage }) },
          { path: 'sprints', lazy: async () => ({ Component: (await import('./pages/sprints.tsx')).SprintsPage }) },
          { path: 'plan', lazy: async () => ({ Component: (await import('./pages/plan.tsx')).PlanPage }) },
          {
            path: 'plan/:sessionId',
            lazy: async () => ({ Component: (await import('./pages/wizard.tsx')).WizardPage }),
          },
          { path: 'agents', lazy: async () => ({ Component: (await import('./pages/agents.tsx')).AgentsPage }) },
          { path: 'agents/:agentId', lazy: async () => ({ Component: (await import('./pages/agent.tsx')).AgentPage }) },
          { path: 'pool', lazy: async () => ({ Component: (await import('./pages/pool.tsx')).PoolPage }) },
          { path: 'settings', lazy: async () => ({ Component: (await import('./pages/settings.tsx')).SettingsPage }) },
          {
            path: 'repositories',
            lazy: async () => ({ Component: (await import('./pages/repositories.tsx')).RepositoriesPage }),
          },
          { path: 'members', lazy: async () => ({ Component: (await import('./pages/members.tsx')).MembersPage }) },
        ],
      },
      { path: 'tasks/:taskId', lazy: async () => ({ Component: (await import('./pages/task.tsx')).TaskPage }) },
      { path: 'sprints/:sprintId', lazy: async () => ({ Component: (await import('./pages/sprint.tsx')).SprintPage }) },
      { path: 'settings/tokens', lazy: async () => ({ Component: (await import('./pages/tokens.tsx')).TokensPage }) },
      { path: '*', lazy: async () => ({ Component: (await import('./pages/not-found.tsx')).NotFoundPage }) },
    ],
  },
];
