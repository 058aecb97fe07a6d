import express, { type Router } from 'express';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { inProjectOfQuery } from '../../http/access/access.ts';
import { IdText, longText, pageQuery, type Route, route, Timestamp } from '../../http/route.ts';
import { onRun } from '../routes.ts';
import { publicKeys } from './keys.ts';
import { listReceiptsOfPull, listReceiptsOfRun } from './store.ts';

const Receipt = z
  .object({
    runId: z.string(),
    taskId: z.string(),
    repositoryId: z.string(),
    repositoryName: z.string(),
    prUrl: z.string(),
    commit: z.string().meta({ description: 'the commit that the run pushed' }),
    envelope: z
      .object({
        payloadType: z.string(),
        payload: z.string().meta({ description: 'an in-toto statement in base64' }),
        signatures: z.array(z.object({ keyid: z.string(), sig: z.string() })),
      })
      .meta({ description: 'the signed receipt, a DSSE envelope' }),
    createdAt: Timestamp,
  })
  .meta({ id: 'Receipt' });

export const receiptRoutes: Route[] = [
  route({
    operationId: 'listRunReceipts',
    method: 'get',
    path: '/runs/:runId/receipts',
    summary: 'List the signed receipts of a run, one for each repository to which it pushed a pull request',
    guide: null,
    tag: 'runs',
    access: onRun('viewer'),
    query: z.strictObject(pageQuery),
    reply: [200, z.array(Receipt)],
    paged: true,
    handle: (app, { run, query }) => listReceiptsOfRun(app.db.manager, run.id, query),
  }),
  route({
    operationId: 'listReceipts',
    method: 'get',
    path: '/receipts',
    summary: 'List the signed receipts of a pull request, newest first',
    guide:
      'Read the signed receipts of a pull request by its address on GitHub. `deckhand verify` checks them; you cannot tell whether a signature is right.',
    tag: 'runs',
    access: inProjectOfQuery,
    query: z.strictObject({
      ...pageQuery,
      projectId: IdText.optional(),
      pullRequest: longText(2000).meta({
        override: { type: 'string' },
        description: 'the address of the pull request',
        example: 'https://github.com/octocat/hello/pull/12',
      }),
    }),
    reply: [200, z.array(Receipt)],
    paged: true,
    handle: (app, { user, projectId, query: { pullRequest: prUrl, ...page } }) =>
      listReceiptsOfPull(app.db.manager, { userId: user.id, projectId, prUrl }, page),
  }),
];

/** Where the public keys of receipts are, for everybody. */
const receiptKeysPath = '/.well-known/jwks.json';

/** Serves the public keys of receipts. */
export function receiptKeyPages(app: App): Router {
  const router = express.Router();
  router.get(receiptKeysPath, async (_req, res) => {
    res.type('application/jwk-set+json').send(JSON.stringify(await publicKeys(app)));
  });
  return router;
}
