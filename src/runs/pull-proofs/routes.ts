import { z } from 'zod';
import { proofStatuses } from '../../domain/proof/proof.ts';
import { pageQuery, type Route, route, Timestamp } from '../../http/route.ts';
import { onRepository } from '../../repositories/routes.ts';
import { listFlaky } from '../proof/flaky-store.ts';
import { badgeAddress } from './badge.ts';
import { listProofMonths, listPullProofs, listSlowChecks } from './figures.ts';

const PullProof = z
  .object({
    pullRequest: z.int().meta({ description: 'the number of the pull request' }),
    headSha: z.string(),
    author: z.string().nullable().meta({ description: 'the login of who opened it; null for a deleted account' }),
    status: z.enum(proofStatuses),
    reason: z.string().nullable().meta({ description: 'why the change is not proved' }),
    seconds: z.int().meta({ description: 'how long it took; less than a minute if the files were tried before' }),
    at: Timestamp,
  })
  .meta({ id: 'PullProof' });

const FlakyCheck = z
  .object({
    command: z.string().meta({ description: 'a command of `checks`, or the name of a check on GitHub' }),
    seen: z.int().meta({ description: 'how often two tries on the same files had different results' }),
    of: z.int().meta({ description: 'how often two tries were compared' }),
    lastAt: Timestamp,
    tests: z
      .array(z.string())
      .meta({ description: 'the single tests that differed last, where the output names them' }),
  })
  .meta({ id: 'FlakyCheck' });

const ProofFigures = z
  .object({
    months: z
      .array(z.object({ month: z.string().meta({ example: '2026-11' }), proved: z.int(), judged: z.int() }))
      .meta({ description: 'pull requests by their last judged head, the latest month first, at most 12' }),
    slow: z
      .array(z.object({ command: z.string(), seconds: z.number() }))
      .meta({ description: 'the slowest checks with their median in the latest proofs' }),
    badge: z
      .string()
      .meta({ description: 'an address for shields.io; whoever knows it sees the share of the latest three months' }),
  })
  .meta({ id: 'ProofFigures' });

export const proofRoutes: Route[] = [
  route({
    operationId: 'listPullProofs',
    method: 'get',
    path: '/repositories/:id/proofs',
    summary: 'List what the tests of pull requests of people and other bots prove, the newest first',
    guide: 'See which pull requests of people are proved by their tests, and why others are not.',
    tag: 'repositories',
    access: onRepository('viewer'),
    query: z.strictObject(pageQuery),
    paged: true,
    reply: [200, z.array(PullProof)],
    handle: (app, { repository, query }) => listPullProofs(app.db.manager, repository.id, query),
  }),
  route({
    operationId: 'getProofFigures',
    method: 'get',
    path: '/repositories/:id/proof-figures',
    summary: 'Get how many pull requests are proved by month, which checks are slow, and the address of the badge',
    guide: null,
    tag: 'repositories',
    access: onRepository('viewer'),
    reply: [200, ProofFigures],
    handle: async (app, { repository: { id } }) => ({
      months: await listProofMonths(app.db.manager, id),
      slow: await listSlowChecks(app.db.manager, id),
      badge: badgeAddress(app, id),
    }),
  }),
  route({
    operationId: 'listFlaky',
    method: 'get',
    path: '/repositories/:id/flaky',
    summary:
      'List the checks whose result differed between two tries on the same files, those that differed last first',
    guide: 'Find the flaky tests of a repository, for example before you create a task to repair one.',
    tag: 'repositories',
    access: onRepository('viewer'),
    query: z.strictObject(pageQuery),
    paged: true,
    reply: [200, z.array(FlakyCheck)],
    handle: (app, { repository, query }) => listFlaky(app.db.manager, repository.id, query),
  }),
];
