import { z } from 'zod';
import { branchPattern } from '../domain/settings.ts';
import { IdText, Timestamp } from '../http/route.ts';

export const Repository = z
  .object({
    id: z.string(),
    projectId: z.string(),
    name: z.string(),
    url: z.string(),
    defaultBranch: z.string(),
    isPrimary: z.boolean(),
    isDocsRepo: z.boolean(),
    createdAt: Timestamp,
  })
  .meta({ id: 'Repository' });

export const RepositoryEntry = Repository.omit({ defaultBranch: true, createdAt: true }).meta({
  id: 'RepositoryEntry',
});

const Name = z
  .string()
  .regex(
    /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/,
    'must have 1 to 100 of the characters A-Z a-z 0-9 . _ - and not begin with a dot',
  );

const Url = z.string().max(2048, 'must have at most 2048 characters');

export const BranchText = z
  .string()
  .max(255, 'must have at most 255 characters')
  .regex(branchPattern, 'must be a valid branch name');

export const ConnectRepository = z.strictObject({
  projectId: IdText,
  name: Name,
  url: Url,
  defaultBranch: BranchText.default('main'),
  isPrimary: z.boolean().optional(),
  isDocsRepo: z.boolean().default(false),
});

export const UpdateRepository = z.strictObject({
  name: Name.optional(),
  url: Url.optional(),
  defaultBranch: BranchText.optional(),
  isPrimary: z.boolean().optional(),
  isDocsRepo: z.boolean().optional(),
});

export const TaskTemplate = z
  .object({ name: z.string(), about: z.string(), title: z.string(), description: z.string() })
  .meta({ id: 'TaskTemplate', description: 'What a template of issues of a repository proposes for a new task' });
