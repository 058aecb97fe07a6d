import { z } from 'zod';
import type { RunRow } from '../db/tables/run.ts';
import { proofStatuses } from '../domain/proof/proof.ts';
import { runKinds, runStatuses } from '../domain/run.ts';
import { longText, Timestamp, titleText } from '../http/route.ts';
import { Failure } from '../tasks/schemas.ts';

export const Run = z
  .object({
    id: z.string(),
    taskId: z.string(),
    agentId: z.string().nullable(),
    kind: z.enum(runKinds),
    rewoundFrom: z
      .object({ runId: z.string(), turn: z.int() })
      .nullable()
      .meta({ description: 'the run and its turn after which a rewound run goes on; null for a run of another kind' }),
    status: z.enum(runStatuses),
    createdAt: Timestamp,
    startedAt: Timestamp.nullable(),
    finishedAt: Timestamp.nullable(),
    waitingSince: Timestamp.nullable().meta({
      description: 'since when it has been waiting; null while it is not waiting',
    }),
    waitedSeconds: z.int().meta({ description: 'how long it waited before, which its duration does not include' }),
    pausing: z.boolean().meta({ description: 'whether it pauses after the current turn of its agent' }),
    failure: Failure.nullable(),
    steps: z.int(),
    inputTokens: z.int(),
    cachedInputTokens: z
      .int()
      .meta({ description: 'how many of the input tokens the model server read from its cache' }),
    outputTokens: z.int(),
    costUsd: z.number().nullable(),
  })
  .meta({ id: 'Run' });

/** Returns a run as the API shows it. */
export function showRun<R extends Pick<RunRow, 'continuesRunId' | 'rewoundTurn' | 'pauseText' | 'status'>>(run: R) {
  const { continuesRunId: runId, rewoundTurn: turn, pauseText, status } = run;
  return {
    ...run,
    // One that was interrupted is queued, and another request pauses it at once.
    pausing: pauseText !== null && status === 'running',
    rewoundFrom: runId === null || turn === null ? null : { runId, turn },
  };
}

export const Proof = z
  .object({
    status: z.enum(proofStatuses),
    newTestsFailOnBase: z
      .boolean()
      .nullable()
      .meta({ description: "whether the checks fail on the base's code with the tests of the change" }),
    oldTestsPass: z
      .boolean()
      .nullable()
      .meta({ description: 'whether the checks pass on the code of the change with the tests of the base' }),
    testsChanged: z.array(z.string()).meta({ description: 'test files that were added, changed or renamed' }),
    testsRemoved: z.array(z.string()),
    reason: z.string().nullable().meta({ description: 'why the change is not proved' }),
  })
  .meta({ id: 'Proof' });

export const RetryTask = z.strictObject({ text: longText(10_000).optional() });

const maxRequest = 60_000;
/** Characters of the paths and quotes of a request. */
const maxPlaces = 100_000;

const LineComment = z
  .strictObject({
    path: z.string().min(1).max(4000),
    line: z.int().min(1),
    side: z.enum(['old', 'new']).meta({ description: 'whether the line is part of the old or of the new file' }),
    quote: longText(1000).default('').meta({ description: 'the line as the person saw it' }),
    text: titleText(10_000),
  })
  .meta({ id: 'NewReviewComment' });

export const ReviseTask = z
  .strictObject({
    text: longText(10_000)
      .trim()
      .default('')
      .meta({ description: 'what should change; may be missing if there are comments' }),
    comments: z.array(LineComment).max(200).default([]).meta({
      description:
        'comments on lines of the change; all texts together have at most 60,000 characters, all paths and quotes together 100,000',
    }),
  })
  .refine(({ text, comments }) => text !== '' || comments.length > 0, {
    path: ['text'],
    message: 'must have 1 to 10000 characters if there are no comments',
  })
  .refine(({ text, comments }) => comments.reduce((sum, each) => sum + each.text.length, text.length) <= maxRequest, {
    path: ['comments'],
    message: `must have at most ${maxRequest} characters with the text of the request`,
  })
  .refine(
    ({ comments }) => comments.reduce((sum, { path, quote }) => sum + path.length + quote.length, 0) <= maxPlaces,
    { path: ['comments'], message: `must have at most ${maxPlaces} characters in their paths and quotes together` },
  );

export const RunEvent = z
  .object({
    id: z.string().meta({ example: '42' }),
    at: Timestamp,
    type: z.string(),
    text: z.string(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'RunEvent' });

export const Reconciliation = z
  .object({
    id: z.string(),
    startedAt: Timestamp,
    finishedAt: Timestamp,
    trigger: z.enum(['manual', 'scheduled', 'start']),
    checked: z.int(),
    recovered: z.array(z.object({ taskId: z.string(), action: z.string(), reason: z.string() })),
  })
  .meta({ id: 'Reconciliation' });
