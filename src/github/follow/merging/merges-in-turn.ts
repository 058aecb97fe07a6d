import type { App } from '../../../app.ts';
import { AppError } from '../../../errors.ts';
import { fewAtOnce } from '../../../git/few-at-once.ts';
import { tenantOfProject } from '../../../projects/budgets.ts';

/**
 * Merges that requests ask for hold connections for named locks while they wait for GitHub, and for the turns of its write
 * requests. All projects share these connections, so twelve merges go on at once in this process, four of them of one project or of
 * the projects of one person.
 */
const mergeFew = fewAtOnce(12, 4);

/** A merge that has not begun after this time is refused: its caller may no longer be there. */
const patienceMs = 30_000;

/** Merges in a request when its turn comes. @throws AppError 429 if that takes too long; what the work throws */
export async function mergeInTurn<T>(
  app: Pick<App, 'db' | 'stopping'>,
  projectId: string,
  work: () => Promise<T>,
  waitMs = patienceMs,
): Promise<T> {
  const tenant = await tenantOfProject(app.db.manager, projectId);
  const late = new AbortController();
  const text = 'Other merges of this project, or of the person who created it, are under way. Try again in a moment';
  const timer = setTimeout(() => late.abort(new AppError(429, text, { headers: { 'Retry-After': '10' } })), waitMs);
  try {
    return await mergeFew(tenant, AbortSignal.any([app.stopping, late.signal]), () => {
      clearTimeout(timer);
      return work();
    });
  } finally {
    clearTimeout(timer);
  }
}
