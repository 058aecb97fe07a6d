import { routes } from '../../src/routes.ts';
import { filledIds, secondVersion } from './fill.ts';

/**
 * A stream does not end, the backlog without a limit is as long as the database is large, others need a query, and GitHub
 * answers the lists of issues and branches.
 */
const leftOut = [
  '/projects/:projectId/events',
  '/projects/:projectId/wizard/:sessionId/editing',
  '/projects/:projectId/backlog',
  '/batch',
  '/receipts',
  '/agents/:id/trials/estimate',
  '/projects/:projectId/automations/trial',
  '/repositories/:id/issues',
  '/repositories/:id/branches',
];

/** Further forms of reads whose cost depends on the query. */
const queries: Record<string, string[]> = {
  '/projects/:projectId/tasks': [
    '?limit=100',
    '?limit=100&status=done',
    '?limit=100&status=in_review',
    `?limit=100&owner=${filledIds.agent}`,
    `?limit=100&sprintId=${filledIds.sprintId}`,
    '?limit=100&search=invoice',
    '?limit=100&search=invoice%20of%20the%20digest',
    '?limit=100&search=the%20ledger%202',
    '?limit=100&search=nowhere',
    '?limit=100&search=described',
    '?limit=8&search=payments%20retr',
  ],
  '/projects/:projectId/spend': ['?days=366'],
  '/projects/:projectId/backlog': ['?limit=100'],
  '/projects/:projectId/board': [`?ids=${filledIds.task},${filledIds.runId}`],
  '/projects/:projectId/audit': ['?limit=100', '?limit=100&action=task.start', `?limit=100&object=${filledIds.task}`],
  '/projects/:projectId/runs': ['?limit=100'],
  '/projects/:projectId/automations/trial': [
    '?cron=0%209%20*%20*%201&timezone=UTC',
    `?event=push&repositoryId=${filledIds.repository}`,
  ],
  '/projects/:projectId/webhooks/:webhookId/deliveries': ['?limit=100'],
  '/me/inbox': ['?scope=all'],
  '/me/sessions': ['?limit=100'],
  '/repositories/:id/proofs': ['?limit=100'],
  '/receipts': ['?pullRequest=https://git.example.org/a/r/pull/1&limit=100'],
  '/batch': [`?get=/me&get=/tasks/${filledIds.task}&get=/tasks/${filledIds.task}/runs`],
  '/agents': [`?projectId=${filledIds.projectId}`],
  '/agents/:id/health': ['?version=1'],
  '/agents/:id/performance': ['?weeks=52', '?version=1'],
  '/agents/:id/skills': ['?version=1'],
  '/agents/:id/suggestions': ['?version=1'],
  '/agents/:id/trials/estimate': [`?repositoryId=${filledIds.repository}`],
};

/** These need an object other than the usual one. */
const instead: Record<string, Record<string, string>> = {
  '/sprints/:sprintId/digest': { sprintId: filledIds.completedSprint ?? '' },
  '/agents/:id/comparison': { agent: secondVersion },
};

/** Returns a path for each read of the API, so that a new one is measured too. */
export function readPaths(): string[] {
  return routes
    .filter((route) => route.method === 'get')
    .flatMap(({ path }) => {
      const kind = path.split('/')[1]?.replace(/ies$/, 'y').replace(/s$/, '') ?? '';
      const ids = { ...filledIds, ...instead[path] };
      const filled = path.replace(/:(\w+)/g, (_all, name: string) => {
        const id = name === 'id' ? ids[kind] : ids[name];
        if (id === undefined) throw new Error(`fill.ts makes nothing for :${name} of ${path}; add it there`);
        return id;
      });
      return [...(leftOut.includes(path) ? [] : ['']), ...(queries[path] ?? [])].map((query) => filled + query);
    });
}
