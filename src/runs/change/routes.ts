import type { App } from '../../app.ts';
import { proofSentence } from '../../domain/proof/proof.ts';
import { type Route, route } from '../../http/route.ts';
import { onTask } from '../../tasks/routes.ts';
import { listRunChecks } from '../lease/journal-store.ts';
import { findProof } from '../proof/store.ts';
import { TaskChange } from './schemas.ts';
import { findDiffSize } from './store.ts';

/** Returns what people want to know of a change before they look at its diff. */
async function readChange({ db: { manager: em } }: App, taskId: string) {
  const size = await findDiffSize(em, taskId);
  const proof = await findProof(em, taskId);
  const checks = await listRunChecks(em, taskId);
  return {
    ...(size ?? { files: 0, additions: 0, deletions: 0, isTruncated: false }),
    checks: checks.map(({ name, passed }) => ({ command: name, passed })),
    proof: proof === undefined ? null : proofSentence(proof),
  };
}

export const changeRoutes: Route[] = [
  route({
    operationId: 'getTaskChange',
    method: 'get',
    path: '/tasks/:id/change',
    summary: 'Get a summary of the change of a task: its size, its checks and its proof',
    tag: 'tasks',
    access: onTask('member'),
    reply: [200, TaskChange],
    handle: (app, { task }) => readChange(app, task.id),
  }),
];
