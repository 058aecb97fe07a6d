import type { App } from '../app.ts';
import { readMark, setMark, wasDelivered } from './delivery-store.ts';
import { statusOf } from './place.ts';

const markName = 'hook deliveries';
const pageSize = 100;
/** GitHub keeps deliveries for three days; more at once than this is left to the next time. */
const mostPages = 10;

interface HookDelivery {
  id: number;
  guid: string;
  delivered_at: string;
  status_code: number;
  redelivery: boolean;
}

/**
 * Asks GitHub again for deliveries that we never got, since the newest one looked at last time (docs.github.com,
 * "Handling failed webhook deliveries"). Two at once take turns.
 */
export async function redeliverFailed(app: App): Promise<void> {
  if (app.github === undefined) return;
  const octokit = await app.github.asApp();
  const em = app.db.manager;
  await app.db.turn('redeliver', async () => {
    const upTo = Number((await readMark(em, markName)) ?? 0);
    let newest = upTo;
    let cursor: string | undefined;
    for (let page = 0; page < mostPages; page++) {
      const { data, headers } = await octokit.request('GET /app/hook/deliveries', {
        per_page: pageSize,
        ...(cursor === undefined ? {} : { cursor }),
      });
      const found = data as unknown as HookDelivery[];
      for (const { id, guid, status_code } of found) {
        newest = Math.max(newest, id);
        if (id <= upTo || (status_code >= 200 && status_code < 300) || (await wasDelivered(em, guid))) continue;
        await octokit
          .request('POST /app/hook/deliveries/{delivery_id}/attempts', { delivery_id: id })
          .catch((error) => {
            // Too old to be sent again.
            if (![404, 422].includes(statusOf(error))) throw error;
          });
      }
      cursor = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(headers.link ?? '')?.[1];
      if (cursor === undefined || found.some((d) => d.id <= upTo)) break;
    }
    await setMark(em, markName, String(newest));
  });
}
