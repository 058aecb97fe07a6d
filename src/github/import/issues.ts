import type { z } from 'zod';
import type { App } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { oneLine, plain } from '../../domain/text/sanitize.ts';
import { badRequest, notConfigured } from '../../errors.ts';
import { ownerProblems } from '../../tasks/operations.ts';
import { readIssue } from '../follow/issues.ts';
import { insertTaskOfIssue, type ReadIssue } from '../issue-task.ts';
import { wordsOfIssue } from '../issue-words.ts';
import { type Place, placeOfRepository } from '../place.ts';
import type { ImportIssues } from './schemas.ts';
import { listTasksOfIssues } from './store.ts';

/** The most issues that are listed, and the most pages that are read. GitHub's pages contain pull requests as well. */
const maxIssues = 300;
const maxPages = 10;
/** Labels of an issue, and characters of each, that are shown. */
const [maxLabels, maxLabel] = [10, 50];
/** Issues that are read from GitHub at the same time. */
const atOnce = 10;

/**
 * Finds a repository on GitHub. The App must be installed on it, because otherwise its issues could not show the state of
 * their tasks.
 * @throws AppError 503 if it is not
 */
async function placeOf(app: App, { id }: RepositoryRow): Promise<Place> {
  const place = await placeOfRepository(app, id);
  if (place === undefined)
    throw notConfigured(
      'The GitHub App is not installed on this repository, or its installation belongs to another project. Install it, or import the issues in that project.',
    );
  return place;
}

/** Returns the open issues of a repository, newest first, each with its task if it has one. */
export async function listOpenIssues(app: App, repository: RepositoryRow) {
  const issues = await readOpenIssues(await placeOf(app, repository));
  const numbers = issues.map(({ number }) => number);
  const tasks = await listTasksOfIssues(app.db.manager, repository.id, numbers);
  return issues.map((issue) => ({ ...issue, taskId: tasks.get(issue.number) ?? null }));
}

async function readOpenIssues({ octokit, name }: Place) {
  const found = [];
  const query = { ...name, state: 'open', sort: 'created', direction: 'desc', per_page: 100 } as const;
  let pages = 0;
  for await (const { data } of octokit.paginate.iterator('GET /repos/{owner}/{repo}/issues', query)) {
    for (const issue of data)
      if (issue.pull_request === undefined)
        found.push({
          number: issue.number,
          title: wordsOfIssue({ ...issue, body: '' }).title,
          url: issue.html_url,
          author: issue.user?.login ?? null,
          labels: issue.labels.slice(0, maxLabels).map(labelName),
          createdAt: issue.created_at,
        });
    pages += 1;
    if (pages === maxPages || found.length >= maxIssues) break;
  }
  return found.slice(0, maxIssues);
}

function labelName(label: string | { name?: string }): string {
  return oneLine(plain(typeof label === 'string' ? label : (label.name ?? '')), maxLabel);
}

interface Skipped {
  number: number;
  reason: string;
  taskId: string | null;
}

/**
 * Creates a task for each of the issues that is open and has none, all in one transaction. The others are skipped with a
 * reason.
 * @throws AppError 400 for an agent that may not work in the project; 503 where the App is not installed
 */
export async function importIssues(
  app: App,
  repository: RepositoryRow,
  userId: string,
  { numbers, status, owner }: z.output<typeof ImportIssues>,
) {
  const problems = await ownerProblems(app.db.manager, repository.projectId, userId, owner);
  if (problems.length > 0) throw badRequest(problems);
  // Two imports at the same time lock the same issues in the same order.
  const { issues, skipped } = await readChosen(
    await placeOf(app, repository),
    [...new Set(numbers)].sort((a, b) => a - b),
  );
  return app.db.transaction(async (em) => {
    const imported: { number: number; taskId: string }[] = [];
    for (const issue of issues) {
      const task = { status, owner, createdBy: userId };
      const { id: taskId, isNew } = await insertTaskOfIssue(app, em, repository, issue, task);
      const { number } = issue;
      if (isNew) imported.push({ number, taskId });
      else skipped.push({ number, reason: `Issue ${number} has a task already.`, taskId });
    }
    const list = imported.map(({ number }) => `#${number}`).join(', ');
    app.audit.note(imported.length === 0 ? {} : { issues: [null, list], status: [null, status], owner: [null, owner] });
    return { imported, skipped: skipped.sort((a, b) => a.number - b.number) };
  });
}

async function readChosen(place: Place, numbers: number[]): Promise<{ issues: ReadIssue[]; skipped: Skipped[] }> {
  const issues: ReadIssue[] = [];
  const skipped: Skipped[] = [];
  for (let from = 0; from < numbers.length; from += atOnce) {
    const some = numbers.slice(from, from + atOnce);
    const read = await Promise.all(some.map((number) => readIssue(place, number)));
    for (const [i, issue] of read.entries()) {
      const number = some[i] as number;
      const reason = unfit(number, issue);
      if (issue === 'gone' || reason !== undefined) skipped.push({ number, reason: reason ?? '', taskId: null });
      else issues.push({ number, title: issue.title, body: issue.body ?? '', url: issue.html_url });
    }
  }
  return { issues, skipped };
}

/** Returns why an issue gets no task; undefined when it may get one. */
function unfit(number: number, issue: Awaited<ReturnType<typeof readIssue>>): string | undefined {
  if (issue === 'gone') return `The repository has no issue ${number}.`;
  if (issue.pull_request !== undefined) return `Number ${number} is a pull request.`;
  return issue.state === 'open' ? undefined : `Issue ${number} is closed.`;
}
