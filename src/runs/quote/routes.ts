import { z } from 'zod';
import { fewestTasks } from '../../domain/quote/quote.ts';
import { inProject } from '../../http/access/access.ts';
import { pageQuery, type Route, route, Timestamp } from '../../http/route.ts';
import { onTask } from '../../tasks/routes.ts';
import { quoteTask } from './quote-task.ts';
import { heldBy, listPastQuotes, mostQuotes } from './store.ts';

const Bounds = z.object({
  p50: z.number().meta({ description: 'half of such tasks need at most this' }),
  p80: z.number().meta({ description: 'four of five such tasks need at most this' }),
});

const Quote = z
  .object({
    costUsd: Bounds.nullable().meta({ description: 'all runs of the task together' }),
    minutes: Bounds.nullable().meta({ description: 'how long its runs work, without what they wait for people' }),
    mergedUnchanged: z
      .object({ of: z.int(), n: z.int() })
      .nullable()
      .meta({ description: '`n` of `of` similar tasks were merged without a request for changes' }),
    similar: z.array(z.string()).meta({ description: 'the finished tasks behind it, the most similar first' }),
    reason: z
      .string()
      .nullable()
      .meta({ description: `why something is missing, such as fewer than ${fewestTasks} finished tasks` }),
  })
  .meta({
    id: 'Quote',
    example: {
      costUsd: { p50: 0.42, p80: 1.1 },
      minutes: { p50: 6.5, p80: 14 },
      mergedUnchanged: { of: 19, n: 13 },
      similar: ['task_01kbt3v5s8e4c9x2q7w6z1y0ab'],
      reason: null,
    },
  });

const Kept = z.object({
  of: z.int().meta({ description: 'the quotes whose tasks are done' }),
  p50: z.int().meta({ description: 'how many of their lower bounds held' }),
  p80: z.int().meta({ description: 'how many of their upper bounds held' }),
});

const amount = z.number().nullable();
const PastQuotes = z
  .object({
    costUsd: Kept,
    minutes: Kept,
    quotes: z.array(
      z.object({
        taskId: z.string(),
        title: z.string(),
        at: Timestamp,
        costP50: amount,
        costP80: amount,
        costUsd: amount.meta({ description: 'what the task cost' }),
        minutesP50: amount,
        minutesP80: amount,
        minutes: z.number().meta({ description: 'how long its runs worked' }),
      }),
    ),
  })
  .meta({ id: 'PastQuotes' });

/** Counts how many bounds held. */
function countHeld(held: { p50: boolean; p80: boolean }[]) {
  const count = (level: 'p50' | 'p80') => held.filter((each) => each[level]).length;
  return { of: held.length, p50: count('p50'), p80: count('p80') };
}

/** What tasks will probably cost, and how good earlier quotes were. */
export const quoteRoutes: Route[] = [
  route({
    operationId: 'getQuote',
    method: 'get',
    path: '/tasks/:id/quote',
    summary: 'Get what a task will probably cost and how long it takes, from similar finished tasks of its project',
    guide:
      'Read what a task will probably cost, how long it takes, and how many similar tasks were merged unchanged. Use it before startTask.',
    tag: 'tasks',
    access: onTask('viewer'),
    reply: [200, Quote],
    handle: (app, { task }) => quoteTask(app.db.manager, task),
  }),
  route({
    operationId: 'listQuotes',
    method: 'get',
    path: '/projects/:projectId/quotes',
    summary: `Get how well the quotes of the latest ${mostQuotes} finished tasks held, with the quotes, the latest first`,
    tag: 'projects',
    access: inProject('viewer'),
    query: z.strictObject(pageQuery),
    reply: [200, PastQuotes],
    handle: async (app, { projectId, query: { limit, offset } }) => {
      const quotes = await listPastQuotes(app.db.manager, projectId);
      const { costUsd, minutes } = heldBy(quotes);
      return {
        costUsd: countHeld(costUsd),
        minutes: countHeld(minutes),
        quotes: quotes.slice(offset, offset + limit),
      };
    },
  }),
];
