import type { App } from '../../app.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { type GitHubUser, upsertUser } from '../../projects/store.ts';
import { asWriter } from '../../repositories/permission.ts';
import { recheckTask } from '../../tasks/move.ts';
import { handleLabel } from '../commands/handle-commands.ts';
import { taskOfPlace } from '../commands/order.ts';
import { insertHandledCommand, wasCommandHandled } from '../inbox/delivery-store.ts';
import { ownLabels } from '../mirror/mirror.ts';
import { type Place, statusOf } from '../place.ts';
import { obeyLabel, runLabel } from './issues.ts';

interface Labelled {
  number: number;
  label: string;
  sender: GitHubUser & { type?: string };
  isPull: boolean;
}

/**
 * A label of ours was put on or taken off (decisions, section 9). What is there now counts, not what the event says:
 * `agent:run` starts once and goes, ready and backlog put on by somebody with write permission are obeyed, and every
 * other change is put back.
 */
export async function labelChanged(app: App, place: Place, about: Labelled): Promise<void> {
  const { label, number } = about;
  const botId = (await app.github?.bot())?.id;
  if (about.sender.id === botId || (label !== runLabel && !ownLabels.has(label))) return;
  const put = await lastPut(place, number, label, botId);
  const isOn = await hasLabel(place, number, label);
  // The person who put it on counts; the event may be late, or about its being taken off.
  const person = put?.person ?? (isOn ? about.sender : undefined);
  if (person !== undefined && person.id === botId) return;
  const isPerson = person !== undefined && person.type !== 'Bot';
  const writer = isPerson ? await asWriter(place.octokit, place.name, person) : undefined;
  if (label === runLabel) {
    if (!isOn) return;
    await takeOff(place, number, runLabel);
    if (writer && !about.isPull) await handleLabel(app, place, number, await upsertUser(app.db.manager, writer));
    return;
  }
  const taskId = await taskOfPlace(app, place.repository.id, number, about.isPull);
  if (taskId === undefined) return;
  const key = put && `label ${place.repository.githubId}/${put.eventId}`;
  const isKnown = key !== undefined && (await wasCommandHandled(app.db.manager, key));
  if (writer === undefined || isKnown) return recheckTask(app, taskId);
  await obeyLabel(app, place, { taskId, number, label });
  if (key !== undefined) await insertHandledCommand(app.db.manager, key);
}

interface Put {
  /** GitHub's number of that event; each is obeyed once, however late it is told. */
  eventId: number;
  person: Labelled['sender'];
}

/**
 * Who put a label on last, by the events of the issue. It still counts when we took it off ourselves before we heard of
 * it; not when a person did. Undefined where the events cannot tell.
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
    return { eventId: Number(put.id), person: put.actor as Labelled['sender'] };
  } catch (error) {
    if (isRefusedWith(error, 403, 404, 410)) return undefined;
    throw error;
  }
}

/** The same for those who look by themselves. */
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
    // Another delivery of the same event took it off.
    if (statusOf(error) !== 404) throw error;
  });
}
