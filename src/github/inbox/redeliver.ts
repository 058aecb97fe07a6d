import type { App, Octokit } from '../../app.ts';
import { httpStatusOf } from '../app/place.ts';
import { countRedelivery, forgetOldRedeliveries, readMark, setMark, wasDelivered } from '../delivery-store.ts';

const markName = 'hook deliveries';
const pageSize = 100;
/**
 * At most 30,000 deliveries are read in one call. Beyond that, the comparison with GitHub (compare-with-github.ts)
 * finds what was missed.
 */
const maxPages = 300;
/**
 * A repetition is requested at most this many times. A delivery that always fails, for example because it is too large,
 * is listed again each time.
 */
const maxTries = 10;

/**
 * Asks GitHub to repeat the deliveries that failed since the previous call (docs.github.com, "Handling failed webhook
 * deliveries"). A lock keeps two processes from doing this at the same time.
 */
export async function redeliverFailed(app: App): Promise<void> {
  if (app.github === undefined) return;
  const octokit = await app.github.asApp();
  await app.db.withLock('redeliver', async () => {
    const em = app.db.manager;
    await forgetOldRedeliveries(em);
    const upTo = BigInt((await readMark(em, markName)) ?? 0);
    const { newest, failed } = await listFailed(octokit, upTo);
    // Oldest first. The mark is set last, so that the next call lists the remaining deliveries if this one is
    // interrupted.
    for (const { id, guid } of failed.reverse())
      if (!(await wasDelivered(em, guid)) && (await countRedelivery(em, guid)) <= maxTries) await askAgain(octokit, id);
    await setMark(em, markName, String(newest));
  });
}

/** Counts all deliveries that GitHub has recorded so far as handled. Returns how many of them failed. */
export async function skipFailedDeliveries(app: App): Promise<number> {
  if (app.github === undefined) return 0;
  const octokit = await app.github.asApp();
  return app.db.withLock('redeliver', async () => {
    const em = app.db.manager;
    const { newest, failed } = await listFailed(octokit, BigInt((await readMark(em, markName)) ?? 0));
    await setMark(em, markName, String(newest));
    return failed.length;
  });
}

/** Returns the failed deliveries that are newer than `upTo`, newest first, and the id of the newest delivery of all. */
async function listFailed(octokit: Octokit, upTo: bigint) {
  const failed: { id: bigint; guid: string }[] = [];
  let newest = upTo;
  let pages = 0;
  for await (const { data } of octokit.paginate.iterator('GET /app/hook/deliveries', { per_page: pageSize })) {
    // Ids that exceed 2^53, as those of github.com do, arrive as bigint (https://github.com/octokit/request.js/issues/797).
    const ids = data.map((delivery) => BigInt(delivery.id));
    for (const [i, { guid, status_code }] of data.entries()) {
      const id = ids[i] ?? 0n;
      if (id > newest) newest = id;
      const hasArrived = status_code >= 200 && status_code < 300;
      if (id > upTo && !hasArrived) failed.push({ id, guid });
    }
    if (++pages === maxPages || ids.some((id) => id <= upTo)) break;
  }
  return { newest, failed };
}

async function askAgain(octokit: Octokit, id: bigint): Promise<void> {
  // Octokit's types know only numbers, which would lose digits.
  const exact = { delivery_id: String(id) as unknown as number };
  await octokit.request('POST /app/hook/deliveries/{delivery_id}/attempts', exact).catch((error) => {
    // GitHub no longer has this delivery, or refuses to repeat it. The others are still asked for.
    if (![400, 404, 422].includes(httpStatusOf(error))) throw error;
  });
}
