import type { App } from '../../app.ts';
import { fire, pauseIf } from '../../automations/fire.ts';
import { isFor, type Occurrence, readOccurrence } from '../../automations/occurrences.ts';
import { depthOf, listOfRepository } from '../../automations/store.ts';
import type { AutomationRow } from '../../db/tables/automation.ts';
import { maxChain } from '../../domain/automations/automation.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import { asShown } from '../../markdown/as-shown.ts';
import { type GitHubUser, ghost, upsertUser } from '../../projects/store.ts';
import { unlessMissing } from '../../repositories/permission.ts';
import { editorsOfText } from '../../repositories/voices.ts';
import type { Place } from '../app/place.ts';
import { eachThenFail } from '../each-apart.ts';
import { labelKey } from '../labels.ts';
import { findOpenPullsByHead } from '../store.ts';

/**
 * Lets the automations of a repository create tasks for a delivery, one each, however often the delivery comes. What our own
 * bot did causes nothing: an agent's work would cause more of it. People may keep a chain going, for example by merging
 * what an automation has made, so it has a limit.
 */
export async function automate(
  app: App,
  place: Place,
  delivery: { id: string; name: string; payload: unknown },
): Promise<void> {
  const { repository } = place;
  const occurrence = readOccurrence({ guid: delivery.id, event: delivery.name, payload: delivery.payload });
  if (occurrence === undefined) return;
  const em = app.db.manager;
  const all = await listOfRepository(em, repository.id);
  const told = all.filter(({ trigger }) => isFor(trigger, occurrence));
  if (told.length === 0) return;
  const botId = (await app.github?.bot())?.id;
  if (occurrence.sender.id === botId || (await isOwnWork(app, repository.id, occurrence))) return;
  const waiting = await onTheirBranch(place, told, occurrence);
  if (waiting.length === 0) return;
  const { issue, pulls, headBranch: branch, key, fields } = occurrence;
  const depth = (await depthOf(em, { repositoryId: repository.id, issue, pulls, branch })) + 1;
  if (depth > maxChain) {
    app.log.info({ repositoryId: repository.id, event: occurrence.event, depth }, 'automations caused each other');
    return;
  }
  const people = await directorsFrom(app, place, occurrence, botId);
  const cause = {
    key,
    depth,
    fields: await shownFields(fields),
    repositoryId: repository.id,
    people,
    tick: null,
    isAsked: false,
  };
  await eachThenFail(waiting, ({ id }) => fire(app, id, cause));
}

/**
 * Leaves out automations for the checks of a branch that does not have the commit. A pull request from a fork has a branch
 * there, which its author may call `main`.
 */
async function onTheirBranch(
  { octokit, name }: Place,
  all: AutomationRow[],
  { event, sha }: Occurrence,
): Promise<AutomationRow[]> {
  if (event !== 'checks.failed') return all;
  const branchOf = ({ trigger }: AutomationRow) => ('event' in trigger ? trigger.branch : undefined);
  const having = new Set<string | undefined>([undefined]);
  for (const branch of new Set(all.map(branchOf)))
    if (branch !== undefined) {
      const path = 'GET /repos/{owner}/{repo}/compare/{basehead}';
      const at = { ...name, basehead: `${sha}...${branch}`, per_page: 1 };
      const status = (await unlessMissing(octokit.request(path, at)))?.status;
      if (status === 'ahead' || status === 'identical') having.add(branch);
    }
  return all.filter((automation) => having.has(branchOf(automation)));
}

/** The agent itself mends the failed checks of its pull request. */
async function isOwnWork(app: App, repositoryId: string, { event, sha }: Occurrence): Promise<boolean> {
  if (event !== 'checks.failed' || sha === null) return false;
  return (await findOpenPullsByHead(app.db.manager, repositoryId, sha)).length > 0;
}

/**
 * Returns the people whose words or action reach the agent. They are directors of the run, so it opens no other repository
 * in which they may not write, whatever their words make the agent do.
 */
async function directorsFrom(
  app: App,
  place: Place,
  occurrence: Occurrence,
  botId: number | undefined,
): Promise<string[]> {
  const all = [occurrence.sender, ...(await writersFrom(place, occurrence))];
  const people = new Map(all.map((each) => [each.id, each]));
  const ids: string[] = [];
  for (const person of people.values())
    if (person.id !== botId) ids.push((await upsertUser(app.db.manager, person)).id);
  return ids;
}

/** Returns who wrote what an event inserts. */
async function writersFrom(place: Place, { event, author, sha, issue, pulls }: Occurrence): Promise<GitHubUser[]> {
  const known = author ?? ghost;
  if (event === 'push') return [known, ...(sha === null ? [] : await writersOfCommit(place, sha))];
  // The names of checks come from files of the commit, or from programs.
  if (event === 'checks.failed') return [ghost];
  // Everybody with write permission may edit the draft of a release, and GitHub does not say who did.
  if (event === 'release.published') return [known, ghost];
  const number = issue ?? pulls[0];
  // Nobody has edited what was just opened.
  const isNew = event.endsWith('.opened') || number === undefined;
  return [known, ...(isNew ? [] : await editorsAt(place, number))];
}

/** Returns who edited the text or the title of an issue or pull request last. */
async function editorsAt({ octokit, name }: Place, number: number): Promise<GitHubUser[]> {
  return (await editorsOfText(octokit, { ...name, number })) ?? [ghost];
}

/** The most pull requests of a commit whose editors are asked for. A commit rarely belongs to two. */
const maxPulls = 5;

/**
 * Returns whose words the message of a commit may have: its author's as far as GitHub knows them, and those of the authors and editors
 * of its pull requests, from which GitHub takes the messages of merges and squashes.
 */
async function writersOfCommit(place: Place, sha: string): Promise<GitHubUser[]> {
  const { octokit, name } = place;
  const at = { ...name, commit_sha: sha };
  const commit = await unlessMissing(octokit.request('GET /repos/{owner}/{repo}/commits/{ref}', { ...name, ref: sha }));
  const pulls =
    (await unlessMissing(octokit.request('GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls', at))) ?? [];
  const editors: GitHubUser[] = pulls.length > maxPulls ? [ghost] : [];
  // The message of a merge has the title of its pull request, that of a squash or rebase also the messages of its commits.
  const isMerge = (commit?.parents.length ?? 0) > 1;
  for (const { number } of pulls.slice(0, maxPulls)) {
    editors.push(...(await editorsAt(place, number)));
    if (!isMerge) editors.push(...(await writersOfCommits(place, number)));
  }
  const accounts = [commit?.author, commit?.committer, ...pulls.map(({ user }) => user ?? ghost)];
  const known = accounts.flatMap((each) =>
    each && 'id' in each && each.login !== webFlow ? [each as GitHubUser] : [],
  );
  return [...known, ...editors];
}

/** A page of commits has at most this many. */
const maxCommits = 100;

/**
 * Returns who wrote the messages of a pull request's commits. Only a verified signature says who that was: the committer, who may name
 * anybody as the author. What people write in GitHub's pages is signed by GitHub.
 */
async function writersOfCommits({ octokit, name }: Place, number: number): Promise<GitHubUser[]> {
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/commits';
  const asked = octokit.request(path, { ...name, pull_number: number, per_page: maxCommits });
  const commits = await unlessMissing(asked);
  if (commits === undefined || commits.length === maxCommits) return [ghost];
  return commits.flatMap(({ author, committer, commit }) => {
    const signers = commit.verification?.verified ? [author, committer] : [null];
    return signers.flatMap((each) => {
      if (!each || !('id' in each)) return [ghost];
      return each.login === webFlow ? [] : [each as GitHubUser];
    });
  });
}

/** The account with which GitHub commits what people do in its pages. */
const webFlow = 'web-flow';

/** Switches off the automations that wait for a label that was deleted. */
export async function labelDeleted(app: App, { repository }: Place, label: string): Promise<void> {
  const reason = `The label ${oneLine(label, 100)}, for which it waited, was deleted. Choose another one, then switch it on again.`;
  for (const { id } of await listOfRepository(app.db.manager, repository.id))
    await pauseIf(app, id, async (_em, { trigger }) =>
      'event' in trigger && trigger.label !== undefined && labelKey(trigger.label) === labelKey(label)
        ? reason
        : undefined,
    );
}

/** Switches off the automations that wait for a branch that was deleted. */
export async function branchDeleted(app: App, { repository }: Place, branch: string): Promise<void> {
  const reason = `The branch ${oneLine(branch, 100)}, for which it waited, was deleted. Choose another one, then switch it on again.`;
  for (const { id } of await listOfRepository(app.db.manager, repository.id))
    await pauseIf(app, id, async (_em, { trigger }) =>
      'event' in trigger && trigger.branch === branch ? reason : undefined,
    );
}

/** Returns what an event inserts into tasks, as people see it on GitHub. */
async function shownFields(fields: Occurrence['fields']): Promise<Occurrence['fields']> {
  const shown = { ...fields };
  for (const [name, text] of Object.entries(fields))
    if (text !== undefined && name.endsWith('.body')) shown[name] = await asShown(text);
  return shown;
}
