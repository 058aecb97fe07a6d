import type { App, Octokit } from '../../app.ts';
import { isDatabaseAway } from '../../db/database.ts';
import { LeaseLost } from '../../domain/run.ts';
import { maxBody } from '../../outgoing/fit-texts.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { octokitFor } from '../../repositories/credentials.ts';
import type { OpenedPull } from '../../repositories/pulls.ts';
import { listStepsOfTask, stepOf } from '../../runs/journal.ts';
import type { Work } from '../work.ts';

/** The step of a run that gave a pull request its labels, assignees and reviewers. */
const detailsStep = 'pull details';

interface Place {
  owner: string;
  repo: string;
  number: number;
  request: { signal: AbortSignal };
}

/**
 * Gives a pull request the labels, assignees and reviewers that its repository asks for. It does so once, so that later
 * changes by people stay. The log and the pull request name what GitHub refused. Each step reads GitHub's state first, so
 * a repeated call adds nothing twice. A failure does not end the run, because the pull request is already open.
 */
export async function addDetails(app: App, work: Work, pull: Pick<OpenedPull, 'number'>): Promise<void> {
  const { task, repository, journal, settings, credential } = work;
  const { labels, reviewers, assignees } = settings.pullRequest;
  if (labels.length + reviewers.length + assignees.length === 0 || credential.kind === 'none') return;
  const step = stepOf(detailsStep, task, repository);
  const earlier = await listStepsOfTask<{ number: number }>(app.db.manager, task.id, step);
  if (earlier.some(({ number }) => number === pull.number)) return;
  const { owner, repo } = credential;
  const place = { owner, repo, number: pull.number, request: { signal: work.signal } };
  const add = async () => addAll(await octokitFor(app, credential), place, settings.pullRequest);
  await journal.once(step, async () => {
    const leftOut = await work.retrying(add).catch((error) => {
      if (error instanceof LeaseLost || work.signal.aborted || isDatabaseAway(error)) throw error;
      app.log.warn(
        { err: error, runId: work.run.id },
        'a pull request did not get all labels, assignees and reviewers',
      );
      return ['its labels, assignees and reviewers, because GitHub did not answer as expected'];
    });
    for (const each of leftOut) await journal.note('pull', `the pull request goes without ${each}`);
    return { number: pull.number, leftOut };
  });
}

/** Adds what is missing. Returns what GitHub refused, worded to follow "without". */
export async function addAll(
  octokit: Octokit,
  place: Place,
  wanted: Work['settings']['pullRequest'],
): Promise<string[]> {
  const { owner, repo, number, request } = place;
  const at = { owner, repo, pull_number: number, request };
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', at);
  const known = (names: (string | undefined)[]) => new Set(names.map((name) => name?.toLowerCase()));
  const missing = (names: string[], there: Set<string | undefined>) =>
    names.filter((name) => !there.has(name.toLowerCase()));
  const labels = missing(wanted.labels, known(data.labels.map(({ name }) => name)));
  const assignees = missing(wanted.assignees, known((data.assignees ?? []).map(({ login }) => login)));
  const reviewers = missing(
    wanted.reviewers,
    known([
      ...(data.requested_reviewers ?? []).map(({ login }) => login),
      ...(data.requested_teams ?? []).map(({ slug }) => `${owner}/${slug}`),
    ]),
  );
  const leftOut = [
    ...(await addLabels(octokit, place, labels)),
    ...(await assign(octokit, place, assignees)),
    ...(await askReviewers(octokit, place, reviewers)),
  ];
  await sayIn(octokit, at, data.body ?? '', leftOut);
  return leftOut;
}

/** GitHub creates labels that the repository does not have. */
async function addLabels(octokit: Octokit, { number, ...at }: Place, labels: string[]): Promise<string[]> {
  if (labels.length === 0) return [];
  const path = 'POST /repos/{owner}/{repo}/issues/{issue_number}/labels';
  return unlessRefused(
    () => octokit.request(path, { ...at, issue_number: number, labels }).then(() => []),
    () => labels.map((label) => `the label ${label}, which GitHub refused`),
  );
}

/** GitHub answers 404 for somebody who does not exist, and ignores people who cannot be assigned. */
async function assign(octokit: Octokit, place: Place, assignees: string[]): Promise<string[]> {
  const { number, ...at } = place;
  const [first] = assignees;
  if (first === undefined) return [];
  const path = 'POST /repos/{owner}/{repo}/issues/{issue_number}/assignees';
  const refused = (login: string) => `the assignee ${login}, whom GitHub does not let be assigned here`;
  return unlessRefused(
    async () => {
      const { data } = await octokit.request(path, { ...at, issue_number: number, assignees });
      const assigned = new Set((data.assignees ?? []).map(({ login }) => login.toLowerCase()));
      return assignees.filter((login) => !assigned.has(login.toLowerCase())).map(refused);
    },
    () => (assignees.length === 1 ? [refused(first)] : oneByOne(assignees, (login) => assign(octokit, place, [login]))),
  );
}

/**
 * GitHub refuses all reviewers if it refuses one: who is no collaborator, or the author of the pull request. `org/team`
 * is a team of the account that owns the repository.
 */
async function askReviewers(octokit: Octokit, place: Place, names: string[]): Promise<string[]> {
  const { number, ...at } = place;
  const prefix = `${at.owner.toLowerCase()}/`;
  const foreign = names.filter((name) => name.includes('/') && !name.toLowerCase().startsWith(prefix));
  const own = names.filter((name) => !foreign.includes(name));
  const refused = (name: string) => `the reviewer ${name}, whom GitHub does not accept here`;
  const left = foreign.map((name) => `the reviewer ${name}, a team of another organization`);
  const [first] = own;
  if (first === undefined) return left;
  const reviewers = own.filter((name) => !name.includes('/'));
  const team_reviewers = own.filter((name) => name.includes('/')).map((name) => name.slice(prefix.length));
  const path = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers';
  const asked = await unlessRefused(
    () => octokit.request(path, { ...at, pull_number: number, reviewers, team_reviewers }).then(() => []),
    () => (own.length === 1 ? [refused(first)] : oneByOne(own, (name) => askReviewers(octokit, place, [name]))),
  );
  return [...left, ...asked];
}

async function oneByOne(names: string[], add: (name: string) => Promise<string[]>): Promise<string[]> {
  const left: string[] = [];
  for (const name of names) left.push(...(await add(name)));
  return left;
}

async function unlessRefused(
  act: () => Promise<string[]>,
  otherwise: () => string[] | Promise<string[]>,
): Promise<string[]> {
  try {
    return await act();
  } catch (error) {
    if (!isRefusedWith(error, 403, 404, 422)) throw error;
    return otherwise();
  }
}

const opening = '> [!NOTE]\n> This pull request goes without';

/** Says in our part of a pull request what it goes without. */
async function sayIn(
  octokit: Octokit,
  at: { owner: string; repo: string; pull_number: number },
  before: string,
  leftOut: string[],
): Promise<void> {
  if (leftOut.length === 0 || before.replaceAll('\r\n', '\n').includes(opening)) return;
  const text = `${opening} ${leftOut.join('; ')}.`;
  const [shown, close] = [before.trimEnd(), '</details>'];
  const isOpen = shown.endsWith(close);
  const body = isOpen ? `${shown.slice(0, -close.length).trimEnd()}\n\n${text}\n\n${close}` : `${before}\n\n${text}`;
  if (body.length <= maxBody) await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...at, body });
}
