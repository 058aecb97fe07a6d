import type { App } from '../../app.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { type GitHubUser, upsertUser } from '../../projects/store.ts';
import { asWriter } from '../../repositories/permission.ts';
import { recheckTask } from '../../tasks/move.ts';
import { handleLabel } from '../commands/handle-commands.ts';
import { taskOfPlace } from '../commands/order.ts';
import { insertHandledCommand, wasCommandHandled } from '../inbox/delivery-store.ts';
import { ownLabels } from '../mirror/mirror.ts';
import { httpStatusOf, type Place } from '../place.ts';
import { obeyLabel, runLabel } from './issues.ts';

type Person = GitHubUser & { type?: string };

interface LabelChange {
  number: number;
  label: string;
  sender: Person;
  isPull: boolean;
}

/**
 * One of our labels was put on or taken off. What GitHub shows now counts, not what the event says: `agent:run` starts
 * the task once and is taken off, ready and backlog are obeyed when somebody with write permission put them on, and
 * every other change is undone.
 */
export async function labelChanged(app: App, place: Place, change: LabelChange): Promise<void> {
  const { label, number, sender } = change;
  const botId = (await app.github?.bot())?.id;
  if (sender.id === botId || (label !== runLabel && !ownLabels.has(label))) return;
  const put = await lastPut(place, number, label, botId);
  const isOn = await hasLabel(place, number, label);
  // The person who put the label on counts. The sender may be another one: the event may be late, or about a removal.
  const person = put?.person ?? (isOn ? sender : undefined);
  if (person !== undefined && person.id === botId) return;
  const writer = await writerOf(place, person);
  if (label !== runLabel) return followStatusLabel(app, place, change, { put, writer });
  if (!isOn) return;
  await takeOff(place, number, runLabel);
  if (writer && !change.isPull) await handleLabel(app, place, number, await upsertUser(app.db.manager, writer));
}

/** The person under their current login, if they are human and have write permission. */
async function writerOf({ octokit, name }: Place, person: Person | undefined): Promise<Person | undefined> {
  return person === undefined || person.type === 'Bot' ? undefined : asWriter(octokit, name, person);
}

/** Obeys a label that stands for a status, once, if a writer put it on; otherwise shows the task's own status again. */
async function followStatusLabel(
  app: App,
  place: Place,
  { label, number, isPull }: LabelChange,
  { put, writer }: { put: Put | undefined; writer: Person | undefined },
): Promise<void> {
  const taskId = await taskOfPlace(app, place.repository.id, number, isPull);
  if (taskId === undefined) return;
  const key = put && `label ${place.repository.githubId}/${put.eventId}`;
  const wasObeyed = key !== undefined && (await wasCommandHandled(app.db.manager, key));
  if (writer === undefined || wasObeyed) return recheckTask(app, taskId);
  await obeyLabel(app, place, { taskId, number, label });
  if (key !== undefined) await insertHandledCommand(app.db.manager, key);
}

/** The moment at which a label was put on. */
interface Put {
  /** GitHub's id of the event. Each is obeyed once, however often we hear of it. */
  eventId: number;
  person: Person;
}

/**
 * Who put a label on last, by the events of the issue. It still counts when we took the label off ourselves before we
 * heard of it, but not when a person did. Undefined where the events do not tell.
 */
async function lastPut(
  { octokit, name }: Place,
  number: number,
  label: string,
  botId: number | undefined,
): Promise<Put | undefined> {
  try {
    const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/events';
    const all = await octokit.paginate(path, { ...name, issue_number: number, per_page: 100 });
    const events = all.filter((event) => (event as { label?: { name: string } }).label?.name === label);
    const at = events.findLastIndex((event) => event.event === 'labeled');
    const put = events[at];
    const isTakenBack = events.slice(at + 1).some((e) => e.event === 'unlabeled' && e.actor?.id !== botId);
    if (put?.actor == null || isTakenBack) return undefined;
    return { eventId: Number(put.id), person: put.actor as Person };
  } catch (error) {
    if (isRefusedWith(error, 403, 404, 410)) return undefined;
    throw error;
  }
}

/** Who put a label on last, for callers that have no event. */
export async function labellerOf(app: App, place: Place, number: number, label: string) {
  return (await lastPut(place, number, label, (await app.github?.bot())?.id))?.person;
}

async function hasLabel({ octokit, name }: Place, number: number, label: string): Promise<boolean> {
  const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/labels';
  const { data } = await octokit.request(path, { ...name, issue_number: number, per_page: 100 });
  return data.some((l) => l.name === label);
}

async function takeOff({ octokit, name }: Place, number: number, label: string): Promise<void> {
  const path = 'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}';
  await octokit.request(path, { ...name, issue_number: number, name: label }).catch((error) => {
    // A repeated delivery of the event has taken it off already.
    if (httpStatusOf(error) !== 404) throw error;
  });
}
