import { z } from 'zod';
import { orderProblem, planParts, wizardStatuses } from '../domain/wizard.ts';
import { IdText, longText, Timestamp, titleText } from '../http/route.ts';
import { Day } from '../sprints/schemas.ts';

const WizardStep = z
  .object({
    id: z.string(),
    question: z.string(),
    options: z.array(z.object({ id: z.string(), label: z.string() })),
  })
  .meta({ id: 'WizardStep' });

const Prd = z.object({ title: z.string(), markdown: z.string() }).meta({ id: 'Prd' });

const Plan = z
  .object({ phases: z.array(z.object({ name: z.string(), goal: z.string(), reason: z.string() })) })
  .meta({ id: 'Plan' });

const TaskEstimate = z
  .object({
    likelyMinutes: z
      .number()
      .meta({ description: 'half of the tasks in `basedOn` took at most this long, reviews included' }),
    safeMinutes: z.number().meta({ description: 'four out of five took at most this long' }),
    workMinutes: z.number().meta({ description: 'the part of `likelyMinutes` in which an agent works' }),
    basedOn: z.array(z.string()).meta({ description: 'the ids of these finished tasks, the most similar first' }),
    isSimilar: z.boolean().meta({ description: 'false if too few tasks are similar; `basedOn` then has the latest' }),
  })
  .meta({
    id: 'TaskEstimate',
    example: {
      likelyMinutes: 40,
      safeMinutes: 52.5,
      workMinutes: 18,
      basedOn: [
        'task_01kbt3v5s8e4c9x2q7w6z1y0ab',
        'task_01kbt3v5s8e4c9x2q7w6z1y0ac',
        'task_01kbt3v5s8e4c9x2q7w6z1y0ad',
      ],
      isSimilar: true,
    },
  });

const LateReason = z.string().meta({
  example: 'Would be done about 3 days after the end of a 14-day sprint that starts today.',
});

const PlannedTask = z
  .object({
    ref: z.string(),
    title: z.string(),
    description: z.string(),
    owner: z.string().nullable(),
    ownerReason: z.string().nullable(),
    repositoryId: z.string().nullable(),
    dependsOn: z.array(z.string()),
    estimate: TaskEstimate.optional().meta({
      description:
        'how long it may take; missing until agents have finished three tasks of the project, and once the sprint is created',
    }),
  })
  .meta({ id: 'PlannedTask' });

export const WizardStart = z.object({ sessionId: z.string(), currentStep: WizardStep }).meta({ id: 'WizardStart' });

const updatedBy = z
  .object({ id: z.string(), login: z.string() })
  .nullable()
  .meta({ description: 'the person who changed the session last; null if the service did, or nobody since it began' });

const issueUrl = z
  .string()
  .nullable()
  .meta({ description: 'the issue that is planned, whose title is the first line of the goal; null without one' });

export const WizardSession = z
  .object({
    sessionId: z.string(),
    status: z.enum(wizardStatuses),
    goal: z.string(),
    issueUrl,
    repositoryId: z.string().nullable(),
    repositoryIds: z.array(z.string()),
    sprintId: z.string().nullable(),
    updatedBy,
    editors: z
      .array(z.object({ part: z.enum(planParts), user: z.object({ id: z.string(), login: z.string() }) }))
      .meta({ description: 'who is editing which part at the moment' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    currentStep: WizardStep.nullable(),
    answers: z.array(
      z.object({
        stepId: z.string(),
        question: z.string(),
        options: z.array(z.object({ id: z.string(), label: z.string() })),
        selectedOptionIds: z.array(z.string()),
        customText: z.string(),
      }),
    ),
    prd: Prd.nullable(),
    plan: Plan.nullable(),
    tasks: z.array(PlannedTask).nullable(),
    doesNotFit: z
      .array(z.object({ ref: z.string(), doneAt: Timestamp, reason: LateReason }))
      .optional()
      .meta({
        description:
          'the tasks that would be done too late for a sprint of 14 days that starts today; missing without estimates',
      }),
    previous: z
      .object({ prd: Prd.nullable(), plan: Plan.nullable(), tasks: z.array(PlannedTask).nullable() })
      .meta({ description: 'each part as it was before its last change' }),
    outdated: z
      .array(z.enum(planParts))
      .meta({ description: 'the parts that follow from an earlier text of a part before them' }),
  })
  .meta({ id: 'WizardSession' });

export const WizardEntry = z
  .object({
    sessionId: z.string(),
    status: z.enum(wizardStatuses),
    goal: z.string(),
    issueUrl,
    title: z.string().nullable().meta({ description: 'the title of the requirements' }),
    repositoryId: z.string().nullable(),
    repositoryIds: z.array(z.string()),
    sprintId: z.string().nullable(),
    createdBy: z.object({ id: z.string(), login: z.string() }).nullable(),
    updatedBy,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'WizardEntry' });

export const InitializeWizard = z
  .strictObject({
    goal: titleText(10_000),
    repositoryId: IdText.optional(),
    repositoryIds: z
      .array(IdText)
      .min(1, 'must have 1 to 100 ids')
      .max(100, 'must have 1 to 100 ids')
      .optional()
      .meta({ description: 'the repositories to plan for; the first one is that of tasks without a repository' }),
  })
  .refine((given) => given.repositoryId === undefined || given.repositoryIds === undefined, {
    path: ['repositoryIds'],
    message: 'must not be given together with repositoryId',
  })
  .meta({ example: { goal: 'Greet people by name', repositoryIds: ['repo_01kbt3v5s8e4c9x2q7w6z1y0ab'] } });

export const EditingQuery = z.strictObject({
  part: z.enum(planParts, `must be one of ${planParts.join(', ')}`),
});

export const AnswerWizard = z.strictObject({
  answer: z
    .strictObject({
      stepId: IdText,
      selectedOptionIds: z.array(IdText).max(100, 'must have at most 100 ids').default([]),
      customText: longText(10_000).default(''),
    })
    .refine((a) => a.selectedOptionIds.length > 0 || a.customText.trim() !== '', {
      path: ['customText'],
      message: 'must not be empty unless an option is selected',
    }),
});

export const GenerateWizard = z.strictObject({
  sessionId: IdText.optional(),
  feedback: longText(10_000).default('').meta({ description: 'what should be different this time' }),
});

const dates = { startDate: Day.optional(), endDate: Day.optional() };

const orNull = <T>(value: T | null | undefined): T | null => value ?? null;

const PlannedTasks = z
  .array(
    z
      .strictObject({
        ref: IdText,
        title: titleText(),
        description: longText().default(''),
        owner: IdText.nullish().transform(orNull),
        ownerReason: longText(1000).nullish().transform(orNull),
        repositoryId: IdText.nullish().transform(orNull),
        dependsOn: z.array(IdText).max(100, 'must have at most 100 ids').default([]),
        estimate: z.unknown().optional().meta({ description: 'ignored; tasks can be sent back as they were read' }),
      })
      .transform(({ estimate: _, ...task }) => task),
  )
  .min(1, 'must have 1 to 100 tasks')
  .max(100, 'must have 1 to 100 tasks');

export const FinalizeWizard = z.strictObject({
  name: titleText().optional(),
  ...dates,
  tasks: PlannedTasks.optional().meta({
    description: 'the tasks to create instead of the planned ones, usually an edited version of them',
  }),
});

const phaseText = longText(5000).default('');

export const EditWizard = z
  .strictObject({
    prd: z.strictObject({ title: titleText(500), markdown: longText().min(1, 'must not be empty') }).optional(),
    plan: z
      .strictObject({
        phases: z
          .array(z.strictObject({ name: titleText(500), goal: phaseText, reason: phaseText }))
          .min(1, 'must have 1 to 20 phases')
          .max(20, 'must have 1 to 20 phases'),
      })
      .optional(),
    tasks: PlannedTasks.superRefine((tasks, ctx) => {
      const problem = orderProblem(tasks);
      if (problem !== undefined) ctx.addIssue(problem);
    }).optional(),
    updatedAt: z.iso
      .datetime({ offset: true, error: 'must be the updatedAt of the session that was edited' })
      .optional()
      .meta({ description: 'the `updatedAt` of the session that was edited; required with any part' }),
  })
  .refine(({ updatedAt, ...parts }) => updatedAt !== undefined || Object.values(parts).every((p) => p === undefined), {
    path: ['updatedAt'],
    message: 'is required',
  })
  .meta({
    example: {
      prd: { title: 'Greeting by name', markdown: '## Problem\n\nPeople are greeted as strangers.' },
      updatedAt: '2026-01-15T09:30:00.000Z',
    },
  });

export const CreatePlannedSprint = z.strictObject({
  name: titleText(),
  goal: longText().default(''),
  tasks: z
    .array(z.strictObject({ title: titleText(), description: longText().default(''), owner: IdText.nullish() }))
    .min(1, 'must have 1 to 100 tasks')
    .max(100, 'must have 1 to 100 tasks'),
  ...dates,
});

export const PlannedSprint = z
  .object({
    sprint: z.object({ id: z.string(), name: z.string() }),
    tasks: z.array(z.object({ id: z.string(), title: z.string() })),
  })
  .meta({ id: 'PlannedSprint' });
