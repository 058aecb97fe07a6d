import type { App } from '../../app.ts';
import { findTaskOfPull } from '../../runs/reviewing/store.ts';
import { collisionsChanged, lookForCollisions } from '../../tasks/collisions/look.ts';
import { hasOwnPulls, listForeignNumbers } from '../../tasks/collisions/store.ts';
import { isForStranger } from '../app/pacing.ts';
import type { Place } from '../app/place.ts';
import { heardUntil } from '../delivery-store.ts';
import type { PullOfEvent } from './review-pulls.ts';

/** After these actions, and with another base, a pull request of a person may collide with others, or no longer. */
const changes = new Set(['opened', 'reopened', 'synchronize', 'closed']);

/** Looks again at what a pull request of a person collides with. Those of tasks are looked at when they are read. */
export async function foreignPullChanged(
  app: App,
  { repository }: Place,
  { action, isRetargeted }: { action: string; isRetargeted: boolean },
  { number, state }: Pick<PullOfEvent, 'number' | 'state'>,
): Promise<void> {
  const em = app.db.manager;
  if (!(changes.has(action) || isRetargeted) || !(await hasOwnPulls(em, repository.id))) return;
  if ((await findTaskOfPull(em, repository.id, number)) !== undefined) return;
  const of = { repositoryId: repository.id, number, isOfStranger: isForStranger() };
  await app.db.transaction((write) => collisionsChanged(app, write, of, state !== 'open'));
}

/** At most this many pull requests of people are looked at, those that changed last. */
const lookedAt = 20;

/** Looks at the pull requests of people whose events may have been lost: those that changed, and those that collide. */
export async function lookAtForeignPulls(app: App, place: Place): Promise<void> {
  const { octokit, name, repository } = place;
  const em = app.db.manager;
  const since = await heardUntil(em, repository.id);
  if (since === undefined || !(await hasOwnPulls(em, repository.id))) return;
  const { data: pulls } = await octokit.request('GET /repos/{owner}/{repo}/pulls', {
    ...{ ...name, state: 'open', sort: 'updated', direction: 'desc' },
    per_page: lookedAt,
  });
  const changed = pulls.filter((pull) => pull.updated_at >= since).map(({ number }) => number);
  for (const number of new Set([...changed, ...(await listForeignNumbers(em, repository.id, lookedAt))]))
    if ((await findTaskOfPull(em, repository.id, number)) === undefined)
      await lookForCollisions(app, undefined, { repositoryId: repository.id, number });
}
