import { z } from 'zod';
import { automationEvents, filtersOf, type Trigger } from '../domain/automations/automation.ts';
import { IdText, longText, Timestamp, titleText } from '../http/route.ts';
import { BranchText } from '../repositories/schemas.ts';
import { cronProblem, maxCronLength, zoneProblem } from './times.ts';

const event = z.enum(automationEvents, `must be one of ${automationEvents.join(', ')}`);
const filters = ['label', 'author', 'branch'] as const;

/** A login on GitHub, also one of an App such as dependabot[bot]. */
const Login = z
  .string()
  .max(100, 'must be a login on GitHub')
  .regex(/^[A-Za-z0-9_-]+(\[bot\])?$/, 'must be a login on GitHub');

/** A longer text is not looked at: `abort` keeps the refinement below from it. */
const CronText = z.string().max(maxCronLength, { error: `must have at most ${maxCronLength} characters`, abort: true });

const given = z.strictObject({
  cron: CronText.optional().meta({ description: 'a cron expression of five fields, or six with seconds' }),
  timezone: longText(64).optional().meta({ description: 'an IANA time zone such as Europe/Berlin' }),
  event: event.optional(),
  label: titleText(100).optional().meta({ description: 'only if the issue or pull request has this label' }),
  author: Login.optional().meta({ description: 'only what this account wrote' }),
  branch: BranchText.optional().meta({ description: 'only this branch; of a pull request, the one it goes into' }),
});

type Given = z.output<typeof given>;
/** A field of a trigger and what is wrong with it. */
type Wrong = [field: string, message: string];

function* problemsOf(on: Given): Generator<Wrong> {
  const isSchedule = on.cron !== undefined || on.timezone !== undefined;
  if (isSchedule === (on.event !== undefined)) yield ['', 'must have either cron and timezone, or event'];
  else if (on.event === undefined) yield* problemsOfSchedule(on);
  else yield* problemsOfFilters(on, filtersOf[on.event], `does not go with ${on.event}`);
}

function* problemsOfSchedule(on: Given): Generator<Wrong> {
  const cron = on.cron === undefined ? 'is required with timezone' : cronProblem(on.cron);
  if (cron !== undefined) yield ['cron', cron];
  const zone = on.timezone === undefined ? 'is required with cron: Europe/Berlin, or UTC' : zoneProblem(on.timezone);
  if (zone !== undefined) yield ['timezone', zone];
  yield* problemsOfFilters(on, [], 'does not go with a schedule');
}

function* problemsOfFilters(on: Given, known: readonly string[], message: string): Generator<Wrong> {
  for (const filter of filters) if (on[filter] !== undefined && !known.includes(filter)) yield [filter, message];
}

/** A schedule or an event. Each problem names the field, which a union of the two could not do. */
const On = given
  .superRefine((on, context) => {
    for (const [field, message] of problemsOf(on))
      context.addIssue({ code: 'custom', path: field === '' ? [] : [field], message });
  })
  .transform((on): Trigger => {
    const set = Object.entries(on).filter(([, value]) => value !== undefined);
    return Object.fromEntries(set) as Trigger;
  })
  .meta({
    id: 'AutomationTrigger',
    example: { cron: '0 3 * * 1-5', timezone: 'Europe/Berlin' },
    description:
      'Either `cron` and `timezone`, or `event` with filters. Events are those of the repository of the task',
  });

const task = {
  title: titleText().meta({ description: 'may contain fields such as `{{ issue.title }}`, which are quoted' }),
  description: longText().meta({ description: 'may contain fields such as `{{ issue.body }}`, which are quoted' }),
  owner: IdText.meta({ description: 'the agent: its id, or its name if no other agent of the project has it' }),
  repositoryId: IdText.meta({ description: 'where the task is done, and whose events count' }),
  base: BranchText.nullable().meta({ description: 'the branch from which the task starts; null for the default' }),
  planFirst: z.boolean().nullable(),
  start: z
    .boolean()
    .meta({ description: 'start a run at once. Without it, the task waits in the backlog for a person' }),
};

const mostPerDay = z
  .int('must be a whole number from 1 to 1000')
  .min(1, 'must be at least 1')
  .max(1000, 'must be at most 1000')
  .meta({
    description: 'the automation is switched off when it would make more tasks in a day',
  });

export const CreateAutomation = z.strictObject({
  name: titleText(100),
  on: On,
  task: z.strictObject({
    ...task,
    description: task.description.default(''),
    base: task.base.default(null),
    planFirst: task.planFirst.default(null),
    start: task.start.default(false),
  }),
  enabled: z.boolean().default(true),
  mostPerDay: mostPerDay.default(10),
});

export const UpdateAutomation = z.strictObject({
  name: titleText(100).optional(),
  on: On.optional().meta({ description: 'replaces the whole trigger' }),
  task: z.strictObject(task).partial().optional().meta({ description: 'fields that are left out stay' }),
  enabled: z.boolean().optional(),
  mostPerDay: mostPerDay.optional(),
});

const text = z.string().optional();
export const Automation = z
  .object({
    id: z.string(),
    projectId: z.string(),
    name: z.string(),
    on: z.object({ cron: text, timezone: text, event: event.optional(), label: text, author: text, branch: text }),
    task: z.object({
      title: z.string(),
      description: z.string(),
      owner: z.string(),
      repositoryId: z.string(),
      base: z.string().nullable(),
      planFirst: z.boolean().nullable(),
      start: z.boolean(),
    }),
    enabled: z.boolean(),
    mostPerDay: z.int(),
    nextAt: Timestamp.nullable().meta({ description: 'null for events, and while it is switched off' }),
    last: z
      .object({
        taskId: z.string().nullable(),
        at: Timestamp,
        problem: z.string().nullable().meta({ description: 'why no task was made, or why it could not be started' }),
      })
      .nullable(),
    paused: z
      .object({ reason: z.string(), since: Timestamp })
      .nullable()
      .meta({ description: 'why the service switched it off; null if a person did, or if it is on' }),
    changedBy: z.string().nullable().meta({ description: 'the user whose rights its tasks have: who changed it last' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Automation' });

export const RehearsalQuery = z.strictObject({
  cron: CronText.optional(),
  timezone: longText(64).optional(),
  event: event.optional(),
  label: titleText(100).optional(),
  author: Login.optional(),
  branch: BranchText.optional(),
  repositoryId: IdText.optional().meta({ description: 'whose events count; required with `event`' }),
});

/** Reads the trigger of a rehearsal, which the API calls a trial. Its fields have no `on.` before them. */
export const RehearsalTrigger = On;

export const Rehearsal = z
  .object({
    days: z.int().meta({ description: 'how far back it looks' }),
    count: z.int().meta({ description: 'how many tasks it would have made' }),
    isAtLeast: z.boolean().meta({ description: 'there were too many events to look at all of them' }),
    mostOnADay: z.int().meta({ description: 'to compare with `mostPerDay`' }),
    times: z.array(Timestamp).meta({ description: 'the newest ones, at most 20' }),
    next: z.array(Timestamp).meta({ description: 'the next three times; empty for events' }),
  })
  .meta({ id: 'AutomationTrial' });
