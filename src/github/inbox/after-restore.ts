import type { App } from '../../app.ts';
import { skipDueTimes } from '../../automations/fire.ts';
import { databaseTime } from '../../db/clock.ts';
import { isDatabaseAway } from '../../db/database.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { whyUnreachable } from '../../host/through-proxy.ts';
import { isRefusedWith, unreachableHost } from '../../outgoing/github-errors.ts';
import { nameOnGitHub } from '../../repositories/credentials.ts';
import { findRepository } from '../../repositories/store.ts';
import { httpStatusOf, type Place, placeOfRepository } from '../app/place.ts';
import { heardUntil, listenFromNow, skipUnhandled } from '../delivery-store.ts';
import { itemsOf } from '../paginate.ts';
import { listInstalledRepositories, listProjectsWithInstallation } from '../store.ts';
import { addressing } from './catch-up.ts';
import { skipFailedDeliveries } from './redeliver.ts';

/** At most this many texts of a repository are named. */
const maxNamed = 200;

/** What was skipped, and what could not be. */
export interface Skipped {
  /** How many deliveries, times and texts were skipped. */
  count: number;
  /** A line for each thing that was skipped, for people to look at. */
  lines: string[];
  /** Repositories that could not be read, with the reason. What was said in them since the backup is not skipped. */
  unread: { name: string; why: string }[];
}

/**
 * Lets a restored database go on from now: commands, events and times since the backup were carried out before, and would
 * be carried out again. Call it before the service starts. If a repository cannot be read, the others are skipped all the
 * same. Of the repositories in `without` (`owner/name`), texts are skipped without being read.
 * @throws Error if `without` names a repository that no project has; GitHub's error if it does not answer the App
 */
export async function skipSinceBackup(app: App, without: string[] = []): Promise<Skipped> {
  const { manager } = app.db;
  const repositories = await listRepositories(app);
  const isNamed = (names: string[], { label }: Listed) =>
    names.some((name) => name.toLowerCase() === label.toLowerCase());
  const unknown = without.find((name) => !repositories.some((each) => isNamed([name], each)));
  if (unknown !== undefined)
    throw new Error(`--without: no project has the repository ${oneLine(unknown, 200)} through the App`);
  const deliveries = (await skipUnhandled(manager)) + (app.github === undefined ? 0 : await skipFailedDeliveries(app));
  const times = await skipDueTimes(app);
  const skipped: Skipped = { count: deliveries + times.length, lines: [], unread: [] };
  if (deliveries > 0)
    skipped.lines.push(deliveries === 1 ? '1 delivery of an event' : `${deliveries} deliveries of events`);
  skipped.lines.push(...times.map((name) => `the time of the automation "${name}"`));
  for (const repository of repositories)
    if (isNamed(without, repository)) {
      await listenFromNow(manager, repository.id, undefined, 'exactly');
      skipped.lines.push(`${repository.label}  nothing of it was read`);
    } else await readAndSkip(app, repository, skipped);
  return skipped;
}

async function readAndSkip(app: App, { id, name, label }: Listed, skipped: Skipped): Promise<void> {
  try {
    const place = await placeOfRepository(app, id);
    if (place !== undefined) await skipTexts(app, place, skipped);
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    skipped.unread.push({ name: label, why: await whyUnread(app, name, error) });
  }
}

interface Listed {
  id: string;
  name: RepoName;
  /** `owner/name` */
  label: string;
}

async function listRepositories(app: App): Promise<Listed[]> {
  const found: Listed[] = [];
  if (app.github === undefined) return found;
  const { manager } = app.db;
  for (const projectId of await listProjectsWithInstallation(manager, null))
    for (const id of await listInstalledRepositories(manager, projectId)) {
      const row = await findRepository(manager, id);
      const name = row && nameOnGitHub(app, row.url);
      if (name != null) found.push({ id, name, label: `${name.owner}/${name.repo}` });
    }
  return found;
}

/**
 * Says why a repository could not be read. GitHub answers with 404 also for what it does not show for the moment, so the
 * App is asked whether it is installed there; what follows from that, the operator decides.
 */
async function whyUnread(app: App, name: RepoName, error: unknown): Promise<string> {
  if (unreachableHost(error) !== undefined) return `GitHub cannot be reached (${whyUnreachable(error)})`;
  const status = httpStatusOf(error);
  const said = `${status === 0 ? '' : `GitHub answered HTTP ${status}: `}${oneLine((error as Error).message, 200)}`;
  if (![403, 404, 410, 451].includes(status)) return said;
  const octokit = await app.github?.asApp();
  const isGone = await octokit?.request('GET /repos/{owner}/{repo}/installation', { ...name }).then(
    () => false,
    (refusal) => isRefusedWith(refusal, 404),
  );
  return `${said}${isGone ? '; it was deleted or renamed, or the App is not installed there any more' : ''}`;
}

interface Text {
  body?: string | null | undefined;
  html_url: string;
  created_at: string;
}

/** Lists what addresses us since the backup, and counts everything up to now as read. */
async function skipTexts(app: App, place: Place, skipped: Skipped): Promise<void> {
  const { octokit, name, repository } = place;
  const since = await heardUntil(app.db.manager, repository.id);
  const now = (await databaseTime(app.db.manager)).getTime();
  const found: string[] = [];
  if (since !== undefined) {
    const isForUs = await addressing(app);
    const query = { ...name, since, per_page: 100 } as const;
    const add = ({ body, html_url, created_at }: Text) => {
      if (created_at >= since && isForUs(body ?? '')) found.push(`${html_url}  ${oneLine(body ?? '', 80)}`);
    };
    const issues = octokit.paginate.iterator('GET /repos/{owner}/{repo}/issues', { ...query, state: 'all' });
    for await (const issue of itemsOf(issues)) add(issue);
    const comments = octokit.paginate.iterator('GET /repos/{owner}/{repo}/issues/comments', query);
    for await (const comment of itemsOf(comments)) add(comment);
    const inDiffs = octokit.paginate.iterator('GET /repos/{owner}/{repo}/pulls/comments', query);
    for await (const comment of itemsOf(inDiffs)) add(comment);
  }
  await listenFromNow(app.db.manager, repository.id, now, 'exactly');
  skipped.count += found.length;
  skipped.lines.push(...found.slice(0, maxNamed));
  if (found.length > maxNamed) skipped.lines.push(`${name.owner}/${name.repo}  ${found.length - maxNamed} more texts`);
}
