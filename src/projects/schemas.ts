import { z } from 'zod';
import { roles, scopes } from '../domain/agent.ts';
import { pushModes } from '../domain/settings.ts';
import { IdText, longText, Timestamp, titleText } from '../http/route.ts';

export const Me = z
  .object({
    id: z.string(),
    login: z.string(),
    name: z.string(),
    avatarUrl: z.string(),
    scopes: z.enum(scopes).meta({ description: 'what the token of the request allows' }),
  })
  .meta({ id: 'Me' });

const budget = z.number().positive('must be a positive number or null').nullable();
const Budgets = {
  runMinutes: budget,
  runSteps: budget,
  runTokens: budget,
  runCostUsd: budget,
  dayCostUsd: budget,
};
const Limits = z
  .object({
    runMinutes: z.number(),
    runSteps: z.number(),
    runTokens: z.number(),
    runCostUsd: z.number(),
    dayCostUsd: z.number(),
  })
  .meta({ description: 'the limits of this service, which no budget can exceed' });

const GitHubState = z
  .object({
    state: z.enum(['ok', 'suspended', 'refused', 'missing_permissions']),
    reason: z.string().nullable().meta({ description: 'what is wrong and what to do; null if nothing is' }),
    since: Timestamp.nullable(),
  })
  .meta({ id: 'GitHubState', description: 'whether GitHub lets the service work for the account of the project' });

export const Project = z
  .object({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    description: z.string(),
    role: z.enum(roles),
    addedBy: z.object({ id: z.string(), login: z.string() }).nullable(),
    budgets: z
      .object(Budgets)
      .meta({ description: "the project's own limits; null means that the limit of the service applies" }),
    limits: Limits,
    sharePrivateContext: z.boolean(),
    push: z.enum(pushModes).meta({ description: 'whether a person approves each change before it is pushed' }),
    defaultAgentId: z
      .string()
      .nullable()
      .meta({ description: 'the agent that starts where nobody names one; null for the built-in Developer' }),
    github: GitHubState.nullable().meta({ description: 'null for projects without an installation of the App' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Project' });

export const CreateProject = z.strictObject({ name: titleText(), description: longText().default('') });

export const UpdateProject = z.strictObject({
  name: titleText().optional(),
  description: longText().optional(),
  budgets: z.strictObject(Budgets).partial().optional(),
  sharePrivateContext: z.boolean().optional(),
  push: z.enum(pushModes, 'must be free or approved').optional(),
  defaultAgentId: IdText.nullable()
    .optional()
    .meta({ description: 'an agent of the project, in place of the built-in Developer' }),
});

export const Member = z
  .object({
    userId: z.string(),
    login: z.string(),
    name: z.string(),
    avatarUrl: z.string(),
    role: z.enum(roles),
    createdAt: Timestamp,
  })
  .meta({ id: 'Member' });

export const Login = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$/,
    'must begin with a letter or digit, and have only letters, digits and dashes, at most 39 characters',
  );

export const AddMember = z.strictObject({ login: Login, role: z.enum(roles).default('member') });
export const UpdateMember = z.strictObject({ role: z.enum(roles).optional() });

export const SetToken = z.strictObject({
  token: z
    .string()
    .min(1, 'must not be empty')
    .max(2048, 'must have at most 2048 characters')
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces or line breaks'),
});
export const TokenSet = z.object({ configured: z.boolean() });
export const TokenState = z.object({ configured: z.boolean(), updatedAt: Timestamp.nullable() });

export const CreateToken = z.strictObject({
  name: titleText(),
  expiresInDays: z.int().min(1, 'must be from 1 to 366').max(366, 'must be from 1 to 366').default(90),
  scopes: z.enum(scopes, 'must be read, write or admin').default('admin').meta({
    description:
      '`read` changes nothing, `write` also does what members do, `admin` allows everything that the person may do',
  }),
});
const tokenFields = {
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  scopes: z.enum(scopes),
  createdAt: Timestamp,
  expiresAt: Timestamp,
};
export const ApiToken = z.object({ ...tokenFields, lastUsedAt: Timestamp.nullable() }).meta({ id: 'ApiToken' });
export const NewApiToken = z.object({ ...tokenFields, token: z.string() }).meta({ id: 'NewApiToken' });
