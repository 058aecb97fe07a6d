import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { isRefusedWith, pauseAsked } from '../../outgoing/github-errors.ts';
import { type GitHubUser, upsertUser } from '../../projects/store.ts';
import { asWriter } from '../../repositories/permission.ts';
import { recheckTask } from '../../tasks/move.ts';
import { httpStatusOf, type Place } from '../app/place.ts';
import { obeyLabel } from '../follow/issues.ts';
import { type IssueThen, taskOfPlace } from '../given-command.ts';
import type { ReadIssue } from '../issue-task.ts';
import { isOwnLabel, labelKey, runLabel } from '../labels.ts';
import { listNewest } from '../paginate.ts';
import { insertHandledCommand, wasCommandHandled } from '../store.ts';
import { handleLabel } from './handle-commands.ts';

/** What an issue said at a moment, or why that is not known, as a sentence for people. */
export type IssueText = { title: string; body: string; url: string } | { unknown: string };

const Time = z.iso.datetime({ offset: true });
const Answer = z.object({
  repository: z.object({
    issue: z.object({
      title: z.string(),
      body: z.string(),
      url: z.string(),
      lastEditedAt: Time.nullable(),
      timelineItems: z.object({ nodes: z.array(z.object({ createdAt: Time })).max(1) }),
    }),
  }),
});

/**
 * The REST API does not say when the text of an issue was edited: `updated_at` changes with every comment and label.
 * `lastEditedAt` is about the body only. A new title is an event of the timeline.
 */
const query = `query ($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) {
    issue(number: $number) {
      title body url lastEditedAt
      timelineItems(itemTypes: [RENAMED_TITLE_EVENT], last: 1) {
        nodes { ... on RenamedTitleEvent { createdAt } }
      }
    }
  }
}`;

/** The words for an order in refusals: what the person did, and what to repeat. */
const orders = {
  label: ['the label was added', 'add the label again'],
  command: ['the command was written', 'write the command again'],
} as const;

/**
 * Reads what an issue says, if it still says what it said at `at`, when somebody with write permission gave an order that
 * is about this text. Its author may edit it at any time without that permission. GitHub reports whole seconds, so an
 * edit in the same second counts as later.
 * @throws when GitHub may answer next time
 */
export async function readTextAt(
  { octokit, name }: Place,
  number: number,
  { at, order }: { at: string; order: keyof typeof orders },
): Promise<IssueText> {
  const [done, again] = orders[order];
  const advice = `Read what it says now, then ${again}.`;
  const answer = await octokit.graphql(query, { ...name, number }).catch((error) => {
    // An answer of GraphQL that contains errors has no status.
    if (httpStatusOf(error) >= 500 || pauseAsked(error) !== undefined) throw error;
    return undefined;
  });
  const read = Answer.safeParse(answer);
  if (!read.success) return { unknown: `GitHub does not say whether the issue was edited after ${done}. ${advice}` };
  const { title, body, url, lastEditedAt, timelineItems } = read.data.repository.issue;
  const edits = [lastEditedAt, ...timelineItems.nodes.map(({ createdAt }) => createdAt)];
  const second = (time: string) => Math.floor(Date.parse(time) / 1000);
  if (edits.some((edited) => edited !== null && !(second(edited) < second(at))))
    return { unknown: `The issue was edited after ${done}. ${advice}` };
  return { title, body, url };
}

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
 * `agent:run` starts the task once and is then removed; while it is there, what failed is tried again. A new task gets the
 * text that the issue had when the label was added, because its author may edit it without write permission. A task that
 * says something else is not started.
 * The labels for ready and backlog move the task if somebody with write permission added them. Every other change is
 * reverted.
 */
export async function labelChanged(app: App, place: Place, changed: LabelChange): Promise<void> {
  const change = { ...changed, label: labelKey(changed.label) };
  const { label, number, sender } = change;
  const botId = (await app.github?.bot())?.id;
  if (sender.id === botId || (label !== runLabel && !isOwnLabel(label))) return;
  const added = await lastAddition(place, number, label, botId);
  const isOn = await hasLabel(place, number, label);
  // The person who added the label needs the permission, not the event's sender: the event may be late, or about a
  // removal by somebody else.
  const person = added?.person ?? (isOn ? sender : undefined);
  if (person !== undefined && person.id === botId) return;
  const writer = await writerOf(place, person);
  if (label !== runLabel) return followStatusLabel(app, place, change, { added, writer });
  // Two deliveries of the same event must not both find the label.
  await app.db.withLock(`label ${place.repository.id}/${number}`, () =>
    obeyRunLabel(app, place, change, { added, writer }),
  );
}

/** Starts the task, once for each addition of the label. The label is removed last, so that nothing is lost on the way. */
async function obeyRunLabel(
  app: App,
  place: Place,
  change: LabelChange,
  { added, writer }: { added: Addition | undefined; writer: GitHubUser | undefined },
): Promise<void> {
  const em = app.db.manager;
  if (!(await hasLabel(place, change.number, runLabel))) return;
  const key = keyOf(place, added);
  const wasObeyed = key !== undefined && (await wasCommandHandled(em, key));
  if (writer && !change.isPull && !wasObeyed) {
    const remember = async (tx: EntityManager) => (key === undefined ? undefined : insertHandledCommand(tx, key));
    const issue = await issueAt(place, change, added);
    await handleLabel(app, place, issue, { user: await upsertUser(em, writer), remember });
    await remember(em);
  }
  await removeLabel(place, change.number, runLabel);
}

/** Returns under which key an addition of a label is recorded as handled. */
function keyOf({ repository }: Place, added: Addition | undefined): string | undefined {
  return added && `label ${repository.githubId}/${added.eventId}`;
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
  const key = keyOf(place, added);
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
 * it, but not if a person removed it. Returns undefined when the newest 1,000 events of the issue do not show who added the
 * label.
 */
async function lastAddition(
  { octokit, name }: Place,
  number: number,
  label: string,
  botId: number | undefined,
): Promise<Addition | undefined> {
  try {
    const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/events';
    const { items: all } = await listNewest((page) =>
      octokit.request(path, { ...name, issue_number: number, ...page }),
    );
    const events = all.filter((event) => 'label' in event && labelKey(event.label?.name ?? '') === label);
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

/** Returns whether an issue has a label now. One that was deleted or transferred since the event has none. */
async function hasLabel({ octokit, name }: Place, number: number, label: string): Promise<boolean> {
  const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/labels';
  try {
    const { data } = await octokit.request(path, { ...name, issue_number: number, per_page: 100 });
    return data.some((l) => labelKey(l.name) === label);
  } catch (error) {
    if (isRefusedWith(error, 404, 410)) return false;
    throw error;
  }
}

async function removeLabel({ octokit, name }: Place, number: number, label: string): Promise<void> {
  const path = 'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}';
  await octokit.request(path, { ...name, issue_number: number, name: label }).catch((error) => {
    // An earlier delivery of the same event has already removed the label, or the issue is gone.
    if (!isRefusedWith(error, 404, 410)) throw error;
  });
}
