import type { App } from '../../app.ts';
import { skipDueTimes } from '../../automations/fire.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import { type Place, placeOfRepository } from '../app/place.ts';
import { heardUntil, listenFromNow, skipUnhandled } from '../delivery-store.ts';
import { eachApart } from '../each-apart.ts';
import { itemsOf } from '../paginate.ts';
import { listInstalledRepositories, listProjectsWithInstallation } from '../store.ts';
import { addressing } from './catch-up.ts';
import { skipFailedDeliveries } from './redeliver.ts';

/** At most this many texts of a repository are named. */
const maxNamed = 200;

/**
 * Lets a restored database go on from now: commands, events and times since the backup were carried out before, and would
 * be carried out again. Call it before the service starts. Returns a line for each thing that it skipped, for people to look
 * at.
 */
export async function skipSinceBackup(app: App): Promise<string[]> {
  const { manager } = app.db;
  const deliveries = (await skipUnhandled(manager)) + (app.github === undefined ? 0 : await skipFailedDeliveries(app));
  const times = await skipDueTimes(app);
  const lines = [
    ...(deliveries > 0 ? [`${deliveries} deliveries of events`] : []),
    ...times.map((name) => `the time of the automation "${name}"`),
  ];
  if (app.github === undefined) return lines;
  const repositories: string[] = [];
  for (const projectId of await listProjectsWithInstallation(manager, null))
    repositories.push(...(await listInstalledRepositories(manager, projectId)));
  // If one repository cannot be read, the others are skipped all the same, and the error names it.
  const about = (repositoryId: string) => ({ repositoryId });
  await eachApart(app, repositories, about, async (id) => {
    const place = await placeOfRepository(app, id);
    if (place !== undefined) lines.push(...(await skipTexts(app, place)));
  });
  return lines;
}

interface Text {
  body?: string | null | undefined;
  html_url: string;
  created_at: string;
}

/** Lists what addresses us since the backup, and counts everything up to now as read. */
async function skipTexts(app: App, place: Place): Promise<string[]> {
  const { octokit, name, repository } = place;
  const since = await heardUntil(app.db.manager, repository.id);
  const now = Date.now();
  const found: string[] = [];
  if (since !== undefined) {
    const isForUs = await addressing(app);
    const query = { ...name, since, per_page: 100 } as const;
    const add = ({ body, html_url, created_at }: Text) => {
      if (created_at >= since && isForUs(body ?? '') && found.length < maxNamed)
        found.push(`${html_url}  ${oneLine(body ?? '', 80)}`);
    };
    const issues = octokit.paginate.iterator('GET /repos/{owner}/{repo}/issues', { ...query, state: 'all' });
    for await (const issue of itemsOf(issues)) add(issue);
    const comments = octokit.paginate.iterator('GET /repos/{owner}/{repo}/issues/comments', query);
    for await (const comment of itemsOf(comments)) add(comment);
    const inDiffs = octokit.paginate.iterator('GET /repos/{owner}/{repo}/pulls/comments', query);
    for await (const comment of itemsOf(inDiffs)) add(comment);
  }
  await listenFromNow(app.db.manager, repository.id, now, 'exactly');
  return found;
}
