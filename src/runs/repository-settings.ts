import { minimatch } from 'minimatch';
import { parse } from 'yaml';
import { z } from 'zod';
import type { ProjectBudgets } from '../domain/budget.ts';
import { RunFailed } from '../domain/run.ts';
import type { Checkout } from '../git/engine.ts';

/** The file in which a repository says how agents work in it; read from the base branch only. */
export const settingsFile = '.deckhand.yml';

const command = z.string().trim().min(1).max(2000);
const commands = z.union([command.transform((c) => [c]), z.array(command).max(20)]);
const positive = z.number().positive();

/** Each star more of one name makes a long name take that many times longer to look at. */
const maxStars = 3;

/** A path, folder or glob; of the kinds of glob those that are quickly told from any path. */
const pattern = z
  .string()
  .min(1)
  .max(500)
  .refine((text) => !/[@!+?*]\(/.test(text), 'a glob of *, **, ?, [] and {} was expected, without +(…) and the like')
  .refine(
    (text) =>
      text.split('**').length - 1 <= maxStars &&
      text.split('{').length - 1 <= 1 &&
      text.split('/').every((name) => name === '**' || name.split('*').length - 1 <= maxStars),
    `at most ${maxStars} stars in a name, ${maxStars} ** and one {} were expected`,
  );

const Settings = z.strictObject({
  setup: commands.default([]),
  checks: commands.default([]),
  protected: z.union([pattern.transform((p) => [p]), z.array(pattern).max(200)]).default([]),
  agent: z.string().trim().min(1).max(200).optional(),
  budget: z
    .strictObject({ minutes: positive, steps: positive, tokens: positive, costUsd: positive })
    .partial()
    .default({}),
});
export type RepositorySettings = z.output<typeof Settings>;

export const noSettings: RepositorySettings = Settings.parse({});

/** Its limits as those of a project; what it does not limit is null. */
export function budgetsOfRepository({ budget }: RepositorySettings): ProjectBudgets {
  const { minutes = null, steps = null, tokens = null, costUsd = null } = budget;
  return { runMinutes: minutes, runSteps: steps, runTokens: tokens, runCostUsd: costUsd, dayCostUsd: null };
}

/** @throws Error saying what is wrong, in words for people */
export function parseSettings(text: string): RepositorySettings {
  let given: unknown;
  try {
    given = parse(text, { maxAliasCount: 10 }) ?? {};
  } catch (error) {
    throw new Error(`it is not valid YAML: ${(error as Error).message.split('\n')[0]}`);
  }
  const parsed = Settings.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new Error(parsed.error.issues.map((i) => `${i.path.join('.') || 'the file'}: ${i.message}`).join('; '));
}

/**
 * What a repository says at a commit of its base branch.
 * @throws RunFailed `repository` for a file that does not fit: to pass over it would pass over its protected paths
 */
export async function readSettings(checkout: Checkout, commit: string): Promise<RepositorySettings> {
  const file = await checkout.readFile(commit, settingsFile);
  if (file === undefined) return noSettings;
  try {
    if (file === 'too large') throw new Error('it is too large');
    return parseSettings(file.toString('utf8'));
  } catch (error) {
    throw new RunFailed('repository', `${settingsFile} on the base branch does not fit: ${(error as Error).message}`);
  }
}

/** Whether a path is one that agents may not change: by its name, below a folder, or by a glob; in any case of letters. */
export function isProtected({ protected: patterns }: RepositorySettings, path: string): boolean {
  const parts = path.split('/');
  const folders = parts.map((_, i) => parts.slice(0, i + 1).join('/'));
  return patterns.some((pattern) => {
    const wanted = pattern.replace(/^\.?\//, '').replace(/\/$/, '');
    // What begins with a dot is meant too: it is what needs it most.
    return folders.some(
      (folder) =>
        folder.toLowerCase() === wanted.toLowerCase() ||
        minimatch(folder, wanted, { dot: true, nocase: true, noext: true }),
    );
  });
}
