import { Webhook } from 'standardwebhooks';
import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { insertAuditRecord } from '../../audit/records.ts';
import { payloadOf } from '../../domain/notices/webhooks.ts';
import { storableText } from '../../domain/text/sanitize.ts';
import { growingPauseMs, retryAfterMs } from '../../domain/waiting.ts';
import { refusedAnswer } from '../../errors.ts';
import { whyUnreachable } from '../../host/through-proxy.ts';
import { pinnedFetch } from '../../outgoing/pinned-fetch.ts';
import { checkedAddress } from '../../repositories/credentials.ts';
import { noticeToAdmins } from '../admin-notices.ts';
import { wakeWebhook } from './operations.ts';
import {
  type ClaimedDelivery,
  claimDelivery,
  giveUpWaiting,
  letRest,
  listDueWebhooks,
  noteOutcome,
  type Outcome,
  placeOf,
  switchOff,
} from './store.ts';

/** How long a receiver may take. */
const usual = { patienceMs: 15_000 };
/** How long one job sends to one webhook before it takes turns with others. */
const turnMs = 20_000;
/** A claim lasts longer than an attempt. After that, another worker tries again. */
const leaseSeconds = 60;
/** What is kept of an answer, what is read of it, and for how long. */
const [maxExcerpt, maxRead, readMs] = [500, 4096, 1000];
/** A delivery is tried for this long. Then the webhook is switched off. */
const tryingSeconds = 3 * 24 * 3600;
/** The pauses between attempts double from the first to the longest. */
const [firstPauseMs, longestPauseMs] = [5000, 6 * 3_600_000];
/** After so many failures in a row, a webhook rests, so that a receiver that is down is not asked once for each task. */
const [maxFailures, restSeconds] = [3, 30];
/** The longest rest that a receiver can ask for. */
const maxRestSeconds = 3600;

/** Queues a job for each webhook that has something to send. */
export async function wakeWebhooks(app: App): Promise<void> {
  for (const webhook of await listDueWebhooks(app.db.manager)) await wakeWebhook(app, webhook);
}

/** Sends what a webhook is to get now, one delivery after the other. */
export async function sendWebhook(
  app: App,
  { webhookId, projectId }: { webhookId: string; projectId: string },
  { patienceMs } = usual,
): Promise<void> {
  const end = performance.now() + turnMs;
  let failures = 0;
  while (!app.stopping.aborted) {
    if (performance.now() > end) return wakeWebhook(app, { id: webhookId, projectId });
    const claimed = await claimDelivery(app.db.manager, webhookId, leaseSeconds);
    if (claimed === undefined) return;
    const { outcome, isGone, rest } = await attempt(app, claimed, patienceMs);
    // This process ends. What it has not noted is sent again when the claim is over.
    if (app.stopping.aborted && outcome.status !== 'delivered') return;
    failures = outcome.status === 'delivered' ? 0 : failures + 1;
    const restFor = Math.max(rest, failures >= maxFailures ? restSeconds : 0);
    await app.db.transaction(async (em) => {
      if (!(await noteOutcome(em, claimed, outcome))) return;
      if (outcome.status === 'failed') await switchedOff(em, claimed, isGone, outcome.problem ?? '');
      else if (restFor > 0) await letRest(em, webhookId, restFor);
    });
    if (restFor > 0) return;
  }
}

interface Attempt {
  outcome: Outcome;
  /** The receiver said that it wants nothing any more. */
  isGone: boolean;
  /** Seconds for which the receiver asked to be left alone. */
  rest: number;
}

/** Makes one attempt. Never throws because of the receiver. */
async function attempt(app: App, claimed: ClaimedDelivery, patienceMs: number): Promise<Attempt> {
  const { responseStatus, excerpt, problem, retryAfter } = await post(app, claimed, patienceMs);
  const seen = { responseStatus, excerpt, problem };
  if (problem === null) return { outcome: { ...seen, status: 'delivered', pauseSeconds: 0 }, isGone: false, rest: 0 };
  const isGone = responseStatus === 410;
  const isOver = isGone || claimed.tryingSeconds >= tryingSeconds;
  const pauseMs = growingPauseMs(claimed.attempts - 1, firstPauseMs, longestPauseMs);
  const asked = Math.min(maxRestSeconds, Math.ceil((retryAfter ?? 0) / 1000));
  return {
    outcome: { ...seen, status: isOver ? 'failed' : 'waiting', pauseSeconds: Math.max(asked, pauseMs / 1000) },
    isGone,
    rest: asked,
  };
}

interface Answered extends Pick<Outcome, 'responseStatus' | 'excerpt' | 'problem'> {
  /** Milliseconds. */
  retryAfter?: number | undefined;
}

async function post(app: App, claimed: ClaimedDelivery, patienceMs: number): Promise<Answered> {
  const { id, url, format } = claimed;
  const signal = AbortSignal.any([AbortSignal.timeout(patienceMs), app.stopping]);
  try {
    const body = JSON.stringify(payloadOf(claimed, format, app.config.BASE_URL));
    const now = new Date();
    const place = { id: claimed.webhookId, projectId: claimed.projectId };
    const signature = new Webhook(app.secrets.open(claimed, placeOf(place))).sign(id, now, body);
    const answer = await pinnedFetch(checkedAddress(app))(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Deckhand',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': signature,
      },
      body,
      signal,
    });
    const { status, headers } = answer;
    const excerpt = await beginningOf(answer);
    const retryAfter = [429, 503].includes(status) ? retryAfterMs(headers.get('retry-after')) : undefined;
    return { responseStatus: status, excerpt, problem: problemOf(status), retryAfter };
  } catch (error) {
    return { responseStatus: null, excerpt: null, problem: `The receiver ${why(error, signal, patienceMs)}.` };
  }
}

function problemOf(status: number): string | null {
  if (status < 300) return null;
  if (status < 400)
    return `The receiver answered with a redirect (HTTP ${status}), which is not followed. Change the address of the webhook.`;
  return `The receiver answered HTTP ${status}.`;
}

function why(error: unknown, signal: AbortSignal, patienceMs: number): string {
  if (signal.aborted) return `did not answer within ${patienceMs / 1000} s`;
  const refused = refusedAnswer(error);
  if (refused !== undefined) return `sent an answer that ${refused.what}`;
  return `could not be reached (${whyUnreachable(error)})`;
}

/**
 * Reads the beginning of an answer. What the receiver sends after its status changes nothing, so the rest is read
 * for a moment only: a slow one would hold up the deliveries of others.
 */
async function beginningOf(answer: Response): Promise<string | null> {
  const reader = answer.body?.getReader();
  if (reader === undefined) return null;
  const late = setTimeout(() => void reader.cancel().catch(() => {}), readMs);
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    while (bytes < maxRead && text.length < maxExcerpt) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.length;
      text += decoder.decode(value.subarray(0, maxRead), { stream: true });
    }
  } catch {
    // The connection was lost, or the time is up.
  }
  clearTimeout(late);
  await reader.cancel().catch(() => {});
  return text === '' ? null : storableText(text.slice(0, maxExcerpt).toWellFormed());
}

/** Switches a webhook off after a delivery was given up, and tells the admins. */
async function switchedOff(em: EntityManager, claimed: ClaimedDelivery, isGone: boolean, last: string): Promise<void> {
  const { webhookId, url } = claimed;
  const { host } = new URL(url);
  const problem = isGone
    ? `The receiver at ${host} answered that it wants no more deliveries (HTTP 410).`
    : `The receiver at ${host} took a delivery for three days in no attempt. ${last}`;
  const projectId = await switchOff(em, webhookId, problem);
  if (projectId === undefined) return;
  await giveUpWaiting(em, webhookId, 'The webhook was switched off.');
  await noticeToAdmins(em, {
    projectId,
    reason: 'webhook',
    objectId: webhookId,
    title: `Webhook to ${host}`,
    text: `${problem} Switch it on again in the settings of the project when the receiver works.`,
  });
  await insertAuditRecord(em, {
    projectId,
    actorId: null,
    via: 'system',
    action: 'webhook.switch_off',
    objectType: 'webhook',
    objectId: webhookId,
    detail: { enabled: [true, false] },
  });
}
