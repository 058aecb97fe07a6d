import { z } from 'zod';
import type { App } from '../../../app.ts';
import { graphqlRefusal } from '../../../errors.ts';
import { unlessMissing } from '../../../repositories/permission.ts';
import { markBaseLooked, type PullProof, type ShownProof } from '../../../runs/pull-proofs/pull-proofs.ts';
import type { Place } from '../../app/place.ts';
import { readRequirements } from '../../app/requirements.ts';
import { proofCheckName } from '../sync-check.ts';

/** A commit that pull requests have as their head. */
export type Head = Pick<PullProof, 'repositoryId' | 'headSha'>;

/** A pull request of a stranger, which waits for a writer's word as far as is known. */
export type OfStranger = Pick<ShownProof, 'number' | 'base' | 'baseRequires' | 'baseLookedAt'>;

/** What GitHub may still be asked about pull requests of strangers in this job, however many heads it shows. */
export interface Look {
  app: App;
  place: Place;
  branches: number;
  pulls: number;
}

/**
 * Branches and pull requests of strangers about which a job asks GitHub. Otherwise a stranger with many pull requests could use up the
 * requests that GitHub allows an installation. What is known of other branches is stored, so that nothing hides among many.
 */
const [maxBranches, maxPulls] = [3, 10];
/** Pull requests of strangers that are looked at for each branch. */
const maxOfBranch = 3;

export function lookAround(app: App, place: Place): Look {
  return { app, place, branches: maxBranches, pulls: maxPulls };
}

/** Returns one of these pull requests that is open and goes into a branch that requires the check. */
export async function holdingUp<T extends OfStranger>(look: Look, head: Head, pulls: T[]): Promise<T | undefined> {
  const { place } = look;
  for (const group of await requiringProof(look, head, pulls))
    for (const pull of group.slice(0, maxOfBranch)) {
      if (look.pulls <= 0) return undefined;
      look.pulls -= 1;
      const base = await openBase(place, pull.number, head.headSha);
      if (base !== undefined && base === branchOf(place, pull)) return pull;
    }
  return undefined;
}

/** An earlier release did not store the branch. */
const branchOf = ({ repository }: Place, { base }: OfStranger) => base ?? repository.defaultBranch;

/**
 * Groups pull requests by the branch into which they go, and returns those of branches that require the check. The branches that
 * nobody looked at, or whose last look is the oldest, are looked at.
 */
async function requiringProof<T extends OfStranger>(look: Look, head: Head, pulls: T[]): Promise<T[][]> {
  const { app, place } = look;
  const groups = [...Map.groupBy(pulls, (pull) => branchOf(place, pull))].map(([base, group]) => ({
    ...{ base, group },
    isRequired: base === place.repository.defaultBranch || group.some(({ baseRequires }) => baseRequires === true),
    lookedAt: Math.min(...group.map(({ baseLookedAt }) => baseLookedAt?.getTime() ?? 0)),
  }));
  const lookable = groups.filter(({ base }) => base !== place.repository.defaultBranch);
  for (const each of lookable.toSorted((a, b) => a.lookedAt - b.lookedAt)) {
    const [first] = each.group;
    if (look.branches <= 0 || each.base === null || first === undefined) break;
    look.branches -= 1;
    each.isRequired = await requiresProof(place, first.number, each.base);
    await markBaseLooked(app.db.manager, head, { base: each.base, isRequired: each.isRequired });
  }
  return groups.filter(({ isRequired }) => isRequired).map(({ group }) => group);
}

async function requiresProof({ octokit, name }: Place, number: number, base: string): Promise<boolean> {
  const at = { ...name, request: { signal: AbortSignal.timeout(30_000) } };
  return (await readRequirements(octokit, at, { number, base })).checks.has(proofCheckName);
}

/** More pull requests of a head are not looked at to find out whether they are merged. */
const maxMerged = 5;

/** Returns whether all of some pull requests are merged. */
export async function areMerged({ octokit, name }: Place, pulls: { number: number }[]): Promise<boolean> {
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  const numbers = new Set(pulls.map(({ number }) => number));
  if (numbers.size > maxMerged) return false;
  for (const pull_number of numbers)
    if ((await unlessMissing(octokit.request(path, { ...name, pull_number })))?.merged !== true) return false;
  return true;
}

const Pull = z.object({ number: z.number(), state: z.string(), headRefOid: z.string(), baseRefName: z.string() });
/** GitHub has no repository for us where the App was uninstalled. */
const Pulls = z.object({ repository: z.record(z.string(), Pull.nullable()).nullable() });

/**
 * Looks at some pull requests and returns the base branches of those that are open and have this head, by number. It asks about
 * all in one request, because each event about one of many pull requests with the same head asks about the others.
 */
export async function openBases(
  { octokit, name }: Place,
  numbers: number[],
  headSha: string,
): Promise<Map<number, string>> {
  if (numbers.length === 0) return new Map();
  const fields = numbers.map((n) => `p${n}: pullRequest(number: ${n}) { number state headRefOid baseRefName }`);
  const query = `query ($owner: String!, $repo: String!) { repository(owner: $owner, name: $repo) { ${fields.join(' ')} } }`;
  const answer = await octokit.graphql(query, { ...name }).catch((error: { data?: unknown }) => {
    // Pull requests that are gone are errors, beside what GitHub says about the others.
    if (graphqlRefusal(error)?.isMissing !== true) throw error;
    return error.data;
  });
  const pulls = Object.values(Pulls.parse(answer).repository ?? {}).filter((pull) => pull !== null);
  const open = pulls.filter(({ state, headRefOid }) => state === 'OPEN' && headRefOid === headSha);
  return new Map(open.map(({ number, baseRefName }) => [number, baseRefName]));
}

/** Returns the branch into which a pull request goes, if it is open and has this head. */
async function openBase({ octokit, name }: Place, number: number, headSha: string): Promise<string | undefined> {
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  const pull = await unlessMissing(octokit.request(path, { ...name, pull_number: number }));
  return pull?.state === 'open' && pull.head.sha === headSha ? pull.base.ref : undefined;
}
