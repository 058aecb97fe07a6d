import { z } from 'zod';
import { wizardStatuses } from '../domain/wizard.ts';
import { IdText, longText, titleText } from '../http/shapes.ts';
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

const PlannedTask = z
  .object({
    ref: z.string(),
    title: z.string(),
    description: z.string(),
    owner: z.string().nullable(),
    dependsOn: z.array(z.string()),
  })
  .meta({ id: 'PlannedTask' });

export const WizardStart = z.object({ sessionId: z.string(), currentStep: WizardStep }).meta({ id: 'WizardStart' });

export const WizardSession = z
  .object({
    sessionId: z.string(),
    status: z.enum(wizardStatuses),
    goal: z.string(),
    repositoryId: z.string().nullable(),
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
  })
  .meta({ id: 'WizardSession' });

export const InitializeWizard = z.strictObject({ goal: titleText(10_000), repositoryId: IdText.optional() });

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

export const FinalizeWizard = z.strictObject({
  name: titleText().optional(),
  ...dates,
  tasks: z
    .array(
      z.strictObject({
        ref: IdText,
        title: titleText(),
        description: longText().default(''),
        owner: IdText.nullish().transform((owner) => owner ?? null),
        dependsOn: z.array(IdText).max(100, 'must have at most 100 ids').default([]),
      }),
    )
    .min(1, 'must have 1 to 100 tasks')
    .max(100, 'must have 1 to 100 tasks')
    .optional()
    .meta({ description: 'the tasks to create instead of the generated ones, usually an edited version of them' }),
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
