import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { oneLine, plain } from '../domain/text/sanitize.ts';
import { badRequest, notConfigured } from '../errors.ts';
import { fewAtOnce, sharedWhileGoing } from '../git/few-at-once.ts';
import { normalUrl } from '../git/remote-url.ts';
import { inProject } from '../http/access/access.ts';
import { IdText, type Route, route, Timestamp } from '../http/route.ts';
import { showMany } from '../markdown/as-shown.ts';
import { isRefusedWith } from '../outgoing/github-errors.ts';
import { onRepository } from '../repositories/routes.ts';
import { listProjectRepositories } from '../repositories/store.ts';
import { ownerIdOf, ownerProblems } from '../tasks/operations.ts';
import type { GitHubRepository } from './app/installation.ts';
import { type Place, placeOfRepository, readRepository } from './app/place.ts';
import { insertTaskOfIssue, type ShownIssue, showIssue, shownBesides, titleOfIssue } from './issue-task.ts';
import { readIssue } from './issues/read-issue.ts';
import { itemsOf } from './paginate.ts';

const InstalledRepository = z
  .object({
    fullName: z.string(),
    name: z.string(),
    url: z.string(),
    defaultBranch: z.string(),
    isPrivate: z.boolean(),
    isConnected: z.boolean().meta({ description: 'whether the project has connected it already' }),
  })
  .meta({ id: 'InstalledRepository' });

const OpenIssue = z
  .object({
    number: z.int(),
    title: z.string(),
    url: z.string(),
    author: z.string().nullable().meta({ description: 'a login; null for a deleted account' }),
    labels: z.array(z.string()),
    createdAt: Timestamp,
    taskId: z.string().nullable().meta({ description: 'the task of the issue, if it has one' }),
  })
  .meta({ id: 'OpenIssue' });

/** Each issue is read once from GitHub before the tasks are created. */
const maxImported = 50;

const ImportIssues = z.strictObject({
  numbers: z
    .array(z.int().min(1).max(2_147_483_647))
    .min(1)
    .max(maxImported)
    .meta({ example: [7] }),
  status: z.enum(['backlog', 'ready']).default('backlog'),
  owner: IdText.optional(),
});

const ImportedIssues = z
  .object({
    imported: z.array(z.object({ number: z.int(), taskId: z.string() })),
    skipped: z.array(
      z.object({
        number: z.int(),
        reason: z.string(),
        taskId: z.string().nullable().meta({ description: 'the existing task of the issue' }),
      }),
    ),
  })
  .meta({ id: 'ImportedIssues' });

/**
 * Returns GitHub's numbers of the active installations whose repositories a person may see: that of the project, and
 * those whose projects the person administers.
 */
async function listVisibleInstallations(em: EntityManager, projectId: string, userId: string): Promise<number[]> {
  const rows: { id: number }[] = await em.query(
    `select i.installation_id::float8 as id from installations i
     where i.status = 'active' and (i.project_id = $1 or exists (
       select 1 from members m where m.project_id = i.project_id and m.user_id = $2 and m.role in ('admin', 'owner')))
     order by i.project_id = $1 desc, lower(i.account_login)`,
    [projectId, userId],
  );
  return rows.map(({ id }) => id);
}

/** Returns the ids of the tasks of a repository's issues, by the number of the issue. */
async function listTasksOfIssues(
  em: EntityManager,
  repositoryId: string,
  numbers: number[],
): Promise<Map<number, string>> {
  const rows: { number: number; id: string }[] = await em.query(
    'select issue_number as number, id from tasks where issue_repository_id = $1 and issue_number = any($2)',
    [repositoryId, numbers],
  );
  return new Map(rows.map(({ number, id }) => [number, id]));
}

/** The most issues that are listed, and the most pages that are read. GitHub's pages contain pull requests as well. */
const maxIssues = 300;
const maxPages = 20;
/** Issues of a page, which is in memory as a whole. */
const pageSize = 50;
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
  if (place === undefined || (await readRepository(place)) === undefined)
    throw notConfigured(
      'The GitHub App is not installed on this repository, or its installation belongs to another project, or its address belongs to another repository now. Install it, or import the issues in that project.',
    );
  return place;
}

type OpenIssues = Awaited<ReturnType<typeof readOpenIssues>>;

/** Strangers choose how long issues are: a page may have 13 MB, and hundreds of people may read the same list. */
const readInTurn = fewAtOnce(6, 1);
const readShared = sharedWhileGoing<OpenIssues>();

/** Returns the open issues of a repository, newest first, each with its task if it has one. */
async function listOpenIssues(app: App, repository: RepositoryRow) {
  const place = await placeOf(app, repository);
  const issues = await readShared(repository.id, () =>
    readInTurn(repository.projectId, new AbortController().signal, () => readOpenIssues(place)),
  );
  const numbers = issues.map(({ number }) => number);
  const tasks = await listTasksOfIssues(app.db.manager, repository.id, numbers);
  return issues.map((issue) => ({ ...issue, taskId: tasks.get(issue.number) ?? null }));
}

async function readOpenIssues({ octokit, name }: Place) {
  const found = [];
  const query = { ...name, state: 'open', sort: 'created', direction: 'desc', per_page: pageSize } as const;
  let pages = 0;
  for await (const { data } of octokit.paginate.iterator('GET /repos/{owner}/{repo}/issues', query)) {
    for (const issue of data)
      if (issue.pull_request === undefined)
        found.push({
          number: issue.number,
          title: titleOfIssue(issue),
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
async function importIssues(
  app: App,
  repository: RepositoryRow,
  userId: string,
  { numbers, status, owner: named }: z.output<typeof ImportIssues>,
) {
  const owner = await ownerIdOf(app.db.manager, repository.projectId, userId, named);
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

async function readChosen(place: Place, numbers: number[]): Promise<{ issues: ShownIssue[]; skipped: Skipped[] }> {
  const issues: ShownIssue[] = [];
  const skipped: Skipped[] = [];
  const show = showMany();
  for (let from = 0; from < numbers.length; from += atOnce) {
    const some = numbers.slice(from, from + atOnce);
    const read = await Promise.all(some.map((number) => readIssue(place, number)));
    for (const [i, issue] of read.entries()) {
      const number = some[i] as number;
      const reason = unfit(number, issue);
      if (typeof issue === 'string' || reason !== undefined)
        skipped.push({ number, reason: reason ?? '', taskId: null });
      else {
        const { title, html_url: url } = issue;
        const read = { number, title, body: issue.body ?? '', url, ...shownBesides(issue) };
        issues.push(await showIssue(read, show));
      }
    }
  }
  return { issues, skipped };
}

/** Returns why an issue gets no task; undefined when it may get one. */
function unfit(number: number, issue: Awaited<ReturnType<typeof readIssue>>): string | undefined {
  if (issue === 'gone') return `The repository has no issue ${number}.`;
  if (issue === 'hidden') return `GitHub shows no issue ${number}: it does not exist, or the App may not read it.`;
  if (issue.pull_request !== undefined) return `Number ${number} is a pull request.`;
  return issue.state === 'open' ? undefined : `Issue ${number} is closed.`;
}

/** More repositories than this are not listed: GitHub sends a hundred per request. People can still enter an address. */
const maxRepositories = 1000;

interface InstalledRepository {
  fullName: string;
  name: string;
  url: string;
  defaultBranch: string;
  isPrivate: boolean;
  isConnected: boolean;
}

/**
 * Returns the repositories that the App reaches and a person may see, by name. Archived ones are left out, because nobody
 * can push to them.
 */
async function listInstalledRepositories(app: App, projectId: string, userId: string): Promise<InstalledRepository[]> {
  const em = app.db.manager;
  const connected = new Set((await listProjectRepositories(em, projectId)).map(({ url }) => url.toLowerCase()));
  const found: InstalledRepository[] = [];
  for (const installationId of await listVisibleInstallations(em, projectId, userId))
    for await (const repository of repositoriesOf(app, installationId)) {
      if (found.length === maxRepositories) break;
      const url = normalUrl(`${app.config.GITHUB_SERVER_URL}/${repository.full_name}`);
      found.push({
        fullName: repository.full_name,
        name: repository.name,
        url,
        defaultBranch: repository.default_branch ?? 'main',
        isPrivate: repository.private,
        isConnected: connected.has(url.toLowerCase()),
      });
    }
  return found.sort((a, b) => a.fullName.localeCompare(b.fullName));
}

async function* repositoriesOf(app: App, installationId: number): AsyncIterable<GitHubRepository> {
  if (app.github === undefined) return;
  const octokit = await app.github.asInstallation(installationId);
  try {
    const pages = octokit.paginate.iterator('GET /installation/repositories', { per_page: 100 });
    for await (const repository of itemsOf(pages as AsyncIterable<{ data: GitHubRepository[] }>))
      if (!repository.archived) yield repository;
  } catch (error) {
    // The App was uninstalled or suspended a moment ago. The other installations are still listed.
    if (!isRefusedWith(error, 401, 403, 404)) throw error;
    app.log.info({ err: error, installationId }, 'the repositories of an installation could not be listed');
  }
}

const tag = 'repositories';
const gitHubFailed = 'GitHub answered with an error';
const notInstalled = 'The GitHub App is not installed on the repository';

/** Lists of what is on GitHub, from which people choose instead of typing names. */
export const importRoutes: Route[] = [
  route({
    operationId: 'listInstalledRepositories',
    method: 'get',
    path: '/projects/:projectId/installed-repositories',
    summary:
      'List the repositories that the GitHub App reaches, in the account of the project and in those that the caller administers; at most 1,000',
    tag,
    access: inProject('admin'),
    reply: [200, z.array(InstalledRepository)],
    errors: { 502: gitHubFailed },
    waits: 'before it writes',
    handle: (app, { projectId, user }) => listInstalledRepositories(app, projectId, user.id),
  }),
  route({
    operationId: 'listOpenIssues',
    method: 'get',
    path: '/repositories/:id/issues',
    summary: 'List the open issues of a repository on GitHub, newest first; at most 300',
    tag,
    access: onRepository('viewer'),
    reply: [200, z.array(OpenIssue)],
    errors: { 502: gitHubFailed, 503: notInstalled },
    waits: 'before it writes',
    handle: (app, { repository }) => listOpenIssues(app, repository),
  }),
  route({
    operationId: 'importIssues',
    method: 'post',
    path: '/repositories/:id/issues',
    summary: 'Create a task for each of these issues that is open and has none',
    tag,
    access: onRepository('member'),
    audit: { action: 'repository.import_issues', object: ({ repository }) => repository },
    body: ImportIssues,
    reply: [200, ImportedIssues],
    errors: { 502: gitHubFailed, 503: notInstalled },
    costs: 'start',
    waits: 'before it writes',
    handle: (app, { repository, user, body }) => importIssues(app, repository, user.id, body),
  }),
];
