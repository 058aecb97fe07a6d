import { setImmediate as breathe } from 'node:timers/promises';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { exchangesOf, isRefused } from '../../conversation/facts.ts';
import { withoutSecrets } from '../../domain/secrets.ts';
import { knownSecrets } from '../../environment/secrets/secrets.ts';
import { cutPage } from '../../http/lists.ts';
import { pageQuery, type Route, route, Timestamp, wholeNumber } from '../../http/route.ts';
import { findTask } from '../../tasks/store.ts';
import { listOpened } from '../directors.ts';
import { onRun } from '../routes.ts';
import { listTurnSizes, readTurns, type StoredTurn } from './turn-store.ts';

const turnQuery = {
  ...pageQuery,
  limit: wholeNumber(1, 100)
    .default(100)
    .meta({ override: { type: 'integer', minimum: 1, maximum: 100, default: 100 }, description: 'results per page' }),
};

const RunTurn = z
  .object({
    turn: z.int().meta({ description: 'numbered from 1' }),
    at: Timestamp,
    text: z.string(),
    calls: z.array(
      z.object({
        name: z.string(),
        arguments: z
          .string()
          .meta({ description: 'as the model wrote them, usually JSON; cut after 100,000 characters' }),
        result: z.string().meta({ description: 'cut after 10,000 characters' }),
        ok: z.boolean(),
      }),
    ),
    inputTokens: z.int(),
    cachedInputTokens: z.int(),
    outputTokens: z.int(),
    costUsd: z.number().nullable(),
  })
  .meta({
    id: 'RunTurn',
    description:
      'One answer from the model with the results of its calls. A turn that was copied from an earlier run cost this run nothing',
  });

/** Longer arguments and results of calls are cut to this many characters. */
const [maxArguments, maxResult] = [100_000, 10_000];

/**
 * A page ends with the turn that exceeds one of these: characters in which credentials are looked for, a quarter of a
 * second for a million, and bytes read. Reasoning is read, but not shown.
 */
const [maxShownChars, maxReadBytes] = [5_000_000, 100_000_000];

/** Returns the turns of a run as people see them, without credentials. */
async function showTurns(
  app: App,
  run: { id: string; taskId: string; projectId: string },
  page: { limit: number; offset: number },
) {
  const em = app.db.manager;
  // One more than the limit tells that there is another page.
  const sizes = await listTurnSizes(em, run.id, { ...page, limit: page.limit + 1 });
  const task = await findTask(em, run.taskId);
  const own = task?.repositoryId == null ? [] : [task.repositoryId];
  const secrets = await knownSecrets(app, run.projectId, [...own, ...(await listOpened(em, run.id, null))]);
  return showEach(readTurns(em, run.id, sizes), sizes.length, secrets);
}

/** Shows turns one after the other. Those after the end of the page are not read. */
export async function showEach(
  turns: Iterable<StoredTurn> | AsyncIterable<StoredTurn>,
  count: number,
  secrets: string[],
) {
  const shown = [];
  let [chars, bytes] = [0, 0];
  for await (const turn of turns) {
    const { figures, text, calls } = partsOf(turn);
    chars += calls.reduce((sum, call) => sum + call.arguments.length + call.result.length, text.length);
    bytes += turn.bytes;
    shown.push({ ...figures, text: await cleaned(text, secrets), calls: await showCalls(calls, secrets) });
    const isOver = chars > maxShownChars || bytes > maxReadBytes;
    if (isOver && shown.length < count) return cutPage(shown);
    await breathe();
  }
  return shown;
}

type ShownCall = ReturnType<typeof partsOf>['calls'][number];

/** Joins each call of a turn with its result. */
function partsOf({ messages, bytes: _, ...figures }: StoredTurn) {
  const exchanges = exchangesOf(messages);
  return {
    figures,
    text: exchanges.map(({ text }) => text).join('\n\n'),
    calls: exchanges.flatMap(({ calls, results }) =>
      calls.map(({ id, name, arguments: given }) => ({ name, arguments: given, result: results.get(id) ?? '' })),
    ),
  };
}

async function showCalls(calls: ShownCall[], secrets: string[]) {
  const shown = [];
  for (const call of calls) {
    const name = await cleaned(call.name, secrets);
    // Cut afterwards, because half a credential would not be found.
    const given = (await cleaned(call.arguments, secrets)).slice(0, maxArguments);
    const result = await cleaned(call.result, secrets);
    shown.push({ name, arguments: given, result: result.slice(0, maxResult), ok: !isRefused(result) });
  }
  return shown;
}

/** Other work of the process goes on after each longer text: those of a page together may be megabytes. */
const breathAfter = 10_000;

async function cleaned(text: string, secrets: string[]): Promise<string> {
  const result = withoutSecrets(text, secrets);
  if (text.length > breathAfter) await breathe();
  return result;
}

/** The turns of runs. */
export const turnRoutes: Route[] = [
  route({
    operationId: 'listRunTurns',
    method: 'get',
    path: '/runs/:runId/turns',
    summary: 'List the turns of a run, oldest first, without credentials',
    guide: 'List the turns of a run, to which rewindTask can go back.',
    tag: 'runs',
    access: onRun('viewer'),
    query: z.strictObject(turnQuery),
    reply: [200, z.array(RunTurn)],
    paged: true,
    handle: (app, { run, query }) => showTurns(app, run, query),
  }),
];
