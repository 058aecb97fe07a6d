import type { App, Octokit } from '../../app.ts';
import { httpStatusOf } from '../place.ts';
import { countRedelivery, forgetOldRedeliveries, readMark, setMark, wasDelivered } from './delivery-store.ts';

const markName = 'hook deliveries';
const pageSize = 100;
/** 30,000 deliveries. Beyond that the comparison with GitHub (heal.ts) has to find what was missed. */
const maxPages = 300;
/** A delivery that always fails, such as one too large for us, is listed again with each failure. */
const maxTries = 10;

interface HookDelivery {
  id: number;
  guid: string;
  delivered_at: string;
  status_code: number;
  redelivery: boolean;
}

/**
 * Asks GitHub to repeat the deliveries that never arrived, back to the newest one of the previous look
 * (docs.github.com, "Handling failed webhook deliveries"). Two processes take turns.
 */
export async function redeliverFailed(app: App): Promise<void> {
  if (app.github === undefined) return;
  const octokit = await app.github.asApp();
  await app.db.turn('redeliver', async () => {
    const em = app.db.manager;
    await forgetOldRedeliveries(em);
    const upTo = Number((await readMark(em, markName)) ?? 0);
    const { newest, failed } = await listFailed(octokit, upTo);
    // The oldest first, so that a look that is interrupted leaves what the next one lists again.
    for (const { id, guid } of failed.reverse())
      if (!(await wasDelivered(em, guid)) && (await countRedelivery(em, guid)) <= maxTries) await askAgain(octokit, id);
    await setMark(em, markName, String(newest));
  });
}

/** The failed deliveries that are newer than `upTo`, newest first, and the id of the newest delivery of all. */
async function listFailed(octokit: Octokit, upTo: number) {
  const failed: HookDelivery[] = [];
  let newest = upTo;
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { data, headers } = await octokit.request('GET /app/hook/deliveries', {
      per_page: pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const found = data as unknown as HookDelivery[];
    for (const delivery of found) {
      newest = Math.max(newest, delivery.id);
      const hasArrived = delivery.status_code >= 200 && delivery.status_code < 300;
      if (delivery.id > upTo && !hasArrived) failed.push(delivery);
    }
    cursor = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(headers.link ?? '')?.[1];
    if (cursor === undefined || found.some((d) => d.id <= upTo)) break;
  }
  return { newest, failed };
}

async function askAgain(octokit: Octokit, id: number): Promise<void> {
  await octokit.request('POST /app/hook/deliveries/{delivery_id}/attempts', { delivery_id: id }).catch((error) => {
    // Too old to be sent again.
    if (![404, 422].includes(httpStatusOf(error))) throw error;
  });
}
