import type { Checkout } from '../../git/engine.ts';
import type { RepositorySettings } from '../settings/schema.ts';
import { type FoundRules, findCommitRules } from './commit-rules.ts';
import { type FoundTemplates, findTemplates } from './templates.ts';

/** How a repository wants its changes written. Read from the base branch, so a change cannot alter it. */
export interface Customs extends FoundRules, FoundTemplates {
  /** Whether each change comes with a file in `.changeset/`, from which a release tool writes the changelog. */
  hasChangesets: boolean;
}

export const noCustoms: Customs = { rules: undefined, from: '', notes: [], templates: [], hasChangesets: false };

/** Reads the customs of a repository at a commit of its base branch. */
export async function readCustoms(
  checkout: Checkout,
  commit: string,
  settings: Pick<RepositorySettings, 'commits'>,
): Promise<Customs> {
  const [rules, { templates, notes }, changesets] = await Promise.all([
    findCommitRules(checkout, commit, settings),
    findTemplates(checkout, commit),
    checkout.listFolder(commit, '.changeset'),
  ]);
  return { ...rules, notes: [...rules.notes, ...notes], templates, hasChangesets: changesets.length > 0 };
}
