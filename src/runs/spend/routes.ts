import { inProject } from '../../http/access/access.ts';
import { type Route, route } from '../../http/route.ts';
import { limitsOf } from '../../projects/budgets.ts';
import { Spend, SpendQuery } from './schemas.ts';
import { listSpend } from './store.ts';
import { sumUp } from './sum-up.ts';

export const spendRoutes: Route[] = [
  route({
    operationId: 'getSpend',
    method: 'get',
    path: '/projects/:projectId/spend',
    summary: 'Get what the runs of a project have used, by day and by agent, and its budget of a day',
    tag: 'projects',
    access: inProject('member'),
    query: SpendQuery,
    reply: [200, Spend],
    handle: async (app, { projectId, query }) => {
      const { today, rows } = await listSpend(app.db.manager, projectId, query.days);
      const { dayCostUsd } = await limitsOf(app, projectId);
      const setBy = dayCostUsd.setBy === 'service' ? ('service' as const) : ('project' as const);
      return { ...sumUp(rows, today, query.days), budget: { dayCostUsd: dayCostUsd.value, setBy } };
    },
  }),
];
