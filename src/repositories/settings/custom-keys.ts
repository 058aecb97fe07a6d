// The keys of .deckhand.yml about a repository's customs: the form of branches, commits and pull requests.

import { z } from 'zod';
import { isInGitFolder } from '../../domain/protected/protected-paths.ts';
import { defaultBranchPattern, problemWithBranchPattern } from '../../domain/text/branch-names.ts';
import { kindOf, listed, text } from './fields.ts';

/** What a repository wants its pull requests to have. */
export interface PullRequestSettings {
  labels: string[];
  /** Logins of people, and `org/team` for teams. */
  reviewers: string[];
  assignees: string[];
  /** `auto` opens a draft only for a change that is not ready. */
  draft: 'auto' | 'always';
}

export const noPullRequestSettings: PullRequestSettings = { labels: [], reviewers: [], assignees: [], draft: 'auto' };

/** Which files of a repository a run gets. */
export interface CheckoutSettings {
  /** Whether the contents of submodules are fetched. */
  submodules: boolean;
  /** Whether files in Git LFS have their contents instead of pointers. */
  lfs: boolean;
  /** The folders to check out; all files if there are none. */
  paths: string[];
}

export const wholeCheckout: CheckoutSettings = { submodules: false, lfs: false, paths: [] };

export const branch = text(100)
  .superRefine((given, context) => {
    const problem = problemWithBranchPattern(given);
    if (problem !== undefined) context.addIssue(problem);
  })
  .default(defaultBranchPattern);

export const commits = z.enum(['free', 'conventional'], 'must be free or conventional').default('free');

const isOn = z.boolean({ error: ({ input }) => `must be true or false, not ${kindOf(input)}` }).default(false);

export const signOff = isOn;

const folder = text(500)
  .transform((given) => given.replace(/^\.?\//, '').replace(/\/$/, ''))
  .superRefine((given, context) => {
    const problem = problemWithFolder(given);
    if (problem !== undefined) context.addIssue(problem);
  });

function problemWithFolder(given: string): string | undefined {
  if (/[*?]/.test(given)) return 'must be the exact path of a folder, without * or ?';
  if (given.startsWith('-')) return 'must not begin with -';
  const isPlain = !/[\p{Cc}\\"]/u.test(given) && !isInGitFolder(given);
  const isInside = given.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
  return isPlain && isInside ? undefined : 'must name a folder of the repository';
}

export const checkout = z
  .strictObject(
    { submodules: isOn, lfs: isOn, paths: listed(folder, 100).default([]) },
    { error: ({ input }) => `must contain keys such as { paths: [app] }, not ${kindOf(input)}` },
  )
  .default(wholeCheckout);

/** How our commits are made: through GitHub's API where it signs them, or by git alone. */
export const verifiedModes = ['auto', 'never'] as const;
export type VerifiedMode = (typeof verifiedModes)[number];

export const verified = z.enum(verifiedModes, 'must be auto or never').default('auto');

/** Accepts a leading `@`, as in comments. GitHub's logins have at most 39 characters. */
const login = text(60).transform((given) => given.replace(/^@/, ''));

const person = login.refine((given) => /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})(?:\[bot\])?$/.test(given), {
  error: 'must be the login of a person',
});

const reviewer = text(200)
  .transform((given) => given.replace(/^@/, ''))
  .refine((given) => /^[A-Za-z0-9][A-Za-z0-9_-]{0,38}(?:\[bot\]|\/[a-z0-9][a-z0-9._-]{0,99})?$/i.test(given), {
    error: 'must be the login of a person, or org/team for a team',
  });

/** GitHub allows at most ten assignees, and 100 labels; label names have at most 50 characters. */
export const pullRequest = z
  .strictObject(
    {
      labels: listed(text(50), 20).default([]),
      reviewers: listed(reviewer, 15).default([]),
      assignees: listed(person, 10).default([]),
      draft: z.enum(['auto', 'always'], 'must be auto or always').default('auto'),
    },
    { error: ({ input }) => `must contain keys such as { labels: [agent] }, not ${kindOf(input)}` },
  )
  .default(noPullRequestSettings);
