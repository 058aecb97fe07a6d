import type { App } from '../app.ts';
import { type GitHubUser, upsertUser } from '../projects/store.ts';
import { mayWrite } from '../repositories/credentials.ts';
import { showTask } from '../tasks/move.ts';
import { handleLabel } from './handle-commands.ts';
import { obeyLabel, runLabel } from './issues.ts';
import { ownLabels } from './mirror.ts';
import { taskOfPlace } from './order.ts';
import { isRefusedWith } from './pacing.ts';
import { type Place, statusOf } from './place.ts';

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
  const isOurs = (person: { login: string }) => person.login === botLogin;
  const botLogin = (await app.github?.bot())?.login;
  if (isOurs(about.sender) || (label !== runLabel && !ownLabels.has(label))) return;
  const isOn = await hasLabel(place, number, label);
  // Whoever put it on counts; the event may be late, or about its being taken off.
  const person = isOn ? ((await labellerOf(place, number, label)) ?? about.sender) : undefined;
  if (person !== undefined && isOurs(person)) return;
  const isAllowed =
    person !== undefined && person.type !== 'Bot' && (await mayWrite(place.octokit, place.name, person.login));
  if (label === runLabel) {
    if (!isOn) return;
    await takeOff(place, number, runLabel);
    if (isAllowed && !about.isPull) await handleLabel(app, place, number, await upsertUser(app.db.manager, person));
    return;
  }
  const taskId = await taskOfPlace(app, place.repository.id, number, about.isPull);
  if (taskId === undefined) return;
  if (isAllowed) await obeyLabel(app, place, { taskId, number, label });
  else await showTask(app, undefined, taskId);
}

/** Who put a label on last, by the events of the issue; undefined where those cannot tell. */
export async function labellerOf(
  { octokit, name }: Place,
  number: number,
  label: string,
): Promise<Labelled['sender'] | undefined> {
  try {
    const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/events';
    const events = await octokit.paginate(path, { ...name, issue_number: number, per_page: 100 });
    const last = events.findLast(
      (event) => event.event === 'labeled' && (event as { label?: { name: string } }).label?.name === label,
    );
    return (last?.actor as Labelled['sender'] | null) ?? undefined;
  } catch (error) {
    if (isRefusedWith(error, 403, 404, 410)) return undefined;
    throw error;
  }
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
