import { z } from 'zod';
import type { RepositoryRow } from '../db/tables/project.ts';
import { notFound } from '../errors.ts';
import { type Access, idOrEmpty } from '../http/access/access.ts';
import { pageQuery, type Route, route, Timestamp, wholeNumber } from '../http/route.ts';
import { onRepository } from '../repositories/routes.ts';
import { getBenchmark, maxItems, startHarvest, switchItem, usualItems } from './benchmark.ts';
import { type BenchmarkItem as BenchmarkRow, benchmarkStatuses, findItem, itemStates } from './benchmark-store.ts';

const BenchmarkItem = z
  .object({
    id: z.string(),
    title: z.string(),
    text: z
      .string()
      .meta({ description: 'what people wrote about the change before it was merged, without its solution' }),
    removed: z.array(z.string()).meta({ description: 'what was removed from the text, because it tells the solution' }),
    baseSha: z.string().meta({ description: 'the commit from which an agent begins' }),
    solutionSha: z.string(),
    tests: z
      .array(z.string())
      .meta({ description: "the paths of the solution's tests, which are hidden from the agent" }),
    singleTests: z.array(z.string()).meta({
      description: 'the single tests that fail before the solution and pass with it, where the checks name them',
    }),
    seconds: z.number().meta({ description: 'how long the checks took with the solution' }),
    state: z.enum(itemStates),
    reason: z.string().nullable().meta({ description: 'why it is rejected' }),
    enabled: z.boolean().meta({ description: 'whether trials use it' }),
  })
  .meta({ id: 'BenchmarkItem' });

const Benchmark = z
  .object({
    status: z.enum(benchmarkStatuses).meta({
      description:
        'ready: its usable items are the benchmark. A harvest that was cancelled is ready if it has found some',
    }),
    reason: z.string().nullable().meta({ description: 'why the harvest failed' }),
    looked: z.int().meta({ description: 'the commits that the latest harvest has looked at' }),
    usable: z.int().meta({ description: 'the number of usable items, those of earlier harvests included' }),
    dropped: z
      .array(z.object({ reason: z.string(), count: z.int() }))
      .meta({ description: 'why the other commits are no items, or rejected ones; the most frequent reason first' }),
    most: z.int().meta({ description: 'the number of usable items after which the harvest ends' }),
    since: Timestamp.nullable(),
    taskId: z.string().meta({ description: 'the task to cancel to stop the harvest; no board shows it' }),
    runId: z.string().meta({ description: 'the run whose log tells how it goes' }),
    startedAt: Timestamp,
    finishedAt: Timestamp.nullable(),
    items: z.array(BenchmarkItem).meta({ description: 'usable ones first, then the newest changes first' }),
  })
  .meta({ id: 'Benchmark' });

const wrongDate = 'must be a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z';
const StartHarvest = z.strictObject({
  most: z
    .int(`must be a whole number between 1 and ${maxItems}`)
    .min(1, `must be between 1 and ${maxItems}`)
    .max(maxItems, `must be between 1 and ${maxItems}`)
    .default(usualItems)
    .meta({ description: 'the number of usable items after which the harvest ends' }),
  since: z
    .union([z.iso.date(), z.iso.datetime({ offset: true })], wrongDate)
    .nullable()
    .default(null)
    .meta({ description: 'leaves older changes alone: a date or a time', example: '2026-01-31' }),
});
const SwitchItem = z.strictObject({ enabled: z.boolean() });

const itemsQuery = z.strictObject({
  limit: wholeNumber(1, 100)
    .default(100)
    .meta({ override: { type: 'integer', minimum: 1, maximum: 100, default: 100 }, description: 'items to return' }),
  offset: pageQuery.offset,
});

const repositoryOfAdmin = onRepository('admin');
/** Loads an item, which has to belong to the repository of the path. */
const onItem: Access<Awaited<ReturnType<typeof repositoryOfAdmin.load>> & { item: BenchmarkRow }> = {
  ...repositoryOfAdmin,
  load: async (app, asked) => {
    const entered = await repositoryOfAdmin.load(app, asked);
    const { itemId = '' } = asked.params;
    const item = await findItem(app.db.manager, idOrEmpty(itemId));
    if (item?.repositoryId !== entered.repository.id)
      throw notFound(`Benchmark item of repository ${entered.repository.name}`, itemId.slice(0, 100));
    return { ...entered, item };
  },
};

const path = '/repositories/:id/benchmark';
const tag = 'repositories';
const object = ({ repository }: { repository: RepositoryRow }) => repository;

export const benchmarkRoutes: Route[] = [
  route({
    operationId: 'startHarvest',
    method: 'post',
    path,
    summary:
      'Make a benchmark of the history: look for merged changes whose tests fail before and pass after them. It takes an hour at most, and no model is asked',
    tag,
    access: onRepository('admin'),
    audit: { action: 'repository.harvest', object },
    body: StartHarvest,
    reply: [202, Benchmark],
    errors: { 409: 'A harvest of this repository is running' },
    costs: 'start',
    handle: (app, { repository, user, body: { most, since } }) =>
      startHarvest(
        app,
        { repository, userId: user.id, most, since: since === null ? null : new Date(since) },
        { limit: 100, offset: 0 },
      ),
  }),
  route({
    operationId: 'getBenchmark',
    method: 'get',
    path,
    summary: 'Get the benchmark of a repository: earlier changes as tasks with hidden tests',
    tag,
    access: onRepository('viewer'),
    query: itemsQuery,
    reply: [200, Benchmark],
    handle: (app, { repository, query }) => getBenchmark(app, repository, query),
  }),
  route({
    operationId: 'switchBenchmarkItem',
    method: 'patch',
    path: `${path}/items/:itemId`,
    summary: 'Switch an item of a benchmark on or off, for the trials that begin from now on',
    tag,
    access: onItem,
    audit: { action: 'repository.switch_item', object },
    body: SwitchItem,
    reply: [200, BenchmarkItem],
    handle: (app, { repository, item, body }) => switchItem(app, repository, item.id, body.enabled),
  }),
];
