import type { App } from '../../app.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { type GitHubUser, upsertUser } from '../../projects/store.ts';
import { asWriter } from '../../repositories/permission.ts';
import { recheckTask } from '../../tasks/move.ts';
import { type IssueThen, taskOfPlace } from '../commands/given-command.ts';
import { handleLabel } from '../commands/handle-commands.ts';
import type { ReadIssue } from '../issue-task.ts';
import { ownLabels } from '../labels.ts';
import { httpStatusOf, type Place } from '../place.ts';
import { insertHandledCommand, wasCommandHandled } from '../store.ts';
import { obeyLabel, runLabel } from './issues.ts';
import { readTextAt } from './text-at.ts';

interface LabelChange {
  number: number;
  label: string;
  sender: GitHubUser;
  isPull: boolean;
  /** What the issue said when the sender added the label; undefined if that is not known. */
  issue?: ReadIssue;
}

/**
 * Handles one of our labels that was added or removed. What counts are the labels that GitHub shows now, not the event.
 * `agent:run` starts the task once and is then removed. A new task gets the text that the issue had when the label was
 * added, because its author may edit it without write permission. A task that says something else is not started.
 * The labels for ready and backlog move the task if somebody with write permission added them. Every other change is
 * reverted.
 */
export async function labelChanged(app: App, place: Place, change: LabelChange): Promise<void> {
  const { label, number, sender } = change;
  const botId = (await app.github?.bot())?.id;
  if (sender.id === botId || (label !== runLabel && !ownLabels.has(label))) return;
  const added = await lastAddition(place, number, label, botId);
  const isOn = await hasLabel(place, number, label);
  // The person who added the label needs the permission, not the event's sender: the event may be late, or about a
  // removal by somebody else.
  const person = added?.person ?? (isOn ? sender : undefined);
  if (person !== undefined && person.id === botId) return;
  const writer = await writerOf(place, person);
  if (label !== runLabel) return followStatusLabel(app, place, change, { added, writer });
  if (!isOn) return;
  // Before the label is removed, so that nothing is lost if GitHub does not answer.
  const issue = writer && !change.isPull ? await issueAt(place, change, added) : undefined;
  await removeLabel(place, number, runLabel);
  if (writer && issue) await handleLabel(app, place, issue, await upsertUser(app.db.manager, writer));
}

/** Returns the issue with the text that it had when the label was added. */
async function issueAt(
  place: Place,
  { number, issue, sender }: LabelChange,
  added: Addition | undefined,
): Promise<IssueThen> {
  if (issue !== undefined && (added === undefined || added.person.id === sender.id)) return issue;
  // If GitHub does not say when the label was added, every edit counts as later.
  const at = added?.at ?? new Date(0).toISOString();
  const text = await readTextAt(place, number, { at, order: 'label' });
  return { number, title: '', body: '', url: '', ...text };
}

/** Returns the person with their current login, if they are human and have write permission. */
async function writerOf({ octokit, name }: Place, person: GitHubUser | undefined): Promise<GitHubUser | undefined> {
  return person === undefined || person.type === 'Bot' ? undefined : asWriter(octokit, name, person);
}

/**
 * Handles a status label once, if somebody with write permission added it. Otherwise shows the task's own status again.
 */
async function followStatusLabel(
  app: App,
  place: Place,
  { label, number, isPull }: LabelChange,
  { added, writer }: { added: Addition | undefined; writer: GitHubUser | undefined },
): Promise<void> {
  const taskId = await taskOfPlace(app, place.repository.id, number, isPull);
  if (taskId === undefined) return;
  const key = added && `label ${place.repository.githubId}/${added.eventId}`;
  const wasObeyed = key !== undefined && (await wasCommandHandled(app.db.manager, key));
  if (writer === undefined || wasObeyed) return recheckTask(app, taskId);
  const { id: userId } = await upsertUser(app.db.manager, writer);
  await obeyLabel(app, place, { taskId, number, label, userId });
  if (key !== undefined) await insertHandledCommand(app.db.manager, key);
}

/** An event in which somebody added a label. */
interface Addition {
  /** GitHub's id of the event. Each event is handled once, no matter how many times it reaches us. */
  eventId: number;
  person: GitHubUser;
  /** When, as GitHub gives it. */
  at: string;
}

/**
 * Finds the event in which a label was last added. The event counts even if we removed the label before we learned of
 * it, but not if a person removed it. Returns undefined when the issue's events do not show who added the label.
 */
async function lastAddition(
  { octokit, name }: Place,
  number: number,
  label: string,
  botId: number | undefined,
): Promise<Addition | undefined> {
  try {
    const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/events';
    const all = await octokit.paginate(path, { ...name, issue_number: number, per_page: 100 });
    const events = all.filter((event) => 'label' in event && event.label?.name === label);
    const at = events.findLastIndex((event) => event.event === 'labeled');
    const added = events[at];
    const isRemoved = events.slice(at + 1).some((e) => e.event === 'unlabeled' && e.actor?.id !== botId);
    if (added?.actor == null || isRemoved) return undefined;
    return { eventId: Number(added.id), person: added.actor, at: added.created_at };
  } catch (error) {
    if (isRefusedWith(error, 403, 404, 410)) return undefined;
    throw error;
  }
}

/** Finds the person who last added a label, for callers that have no event. */
export async function labellerOf(app: App, place: Place, number: number, label: string) {
  return (await lastAddition(place, number, label, (await app.github?.bot())?.id))?.person;
}

async function hasLabel({ octokit, name }: Place, number: number, label: string): Promise<boolean> {
  const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/labels';
  const { data } = await octokit.request(path, { ...name, issue_number: number, per_page: 100 });
  return data.some((l) => l.name === label);
}

async function removeLabel({ octokit, name }: Place, number: number, label: string): Promise<void> {
  const path = 'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}';
  await octokit.request(path, { ...name, issue_number: number, name: label }).catch((error) => {
    // An earlier delivery of the same event has already removed the label.
    if (httpStatusOf(error) !== 404) throw error;
  });
}
