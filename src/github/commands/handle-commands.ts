import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables.ts';
import { Refused } from '../../domain/machine.ts';
import { type Command, maxCommands, mayHoldCommands } from '../../domain/text/commands.ts';
import { oneLine } from '../../domain/text/quoted.ts';
import { AppError } from '../../errors.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { type GitHubUser, upsertUser } from '../../projects/store.ts';
import { rightOf } from '../../repositories/permission.ts';
import { showTask } from '../../tasks/move.ts';
import { insertHandledCommand, wasCommandHandled } from '../inbox/delivery-store.ts';
import { setNotice } from '../mirror/mirror-store.ts';
import { httpStatusOf, type Place, placeOfEvent } from '../place.ts';
import { taskOfPlace } from './order.ts';
import { readCommands } from './read-commands.ts';
import { reply } from './replies.ts';
import { obey, planVerbs, verbs } from './verbs.ts';

/** A text on GitHub that may hold commands: a new comment, or the body of a new issue. */
export interface Spoken {
  installationId: number;
  repository: { id: number; private: boolean; full_name?: string };
  issue: { number: number; title: string; body: string; url: string; isPull: boolean };
  sender: GitHubUser & { type?: string };
  body: string;
  /** The comment it stands in; null for the body of the issue itself. */
  commentId: number | null;
}

const unreadable =
  'This comment cannot be read as Markdown in reasonable time. Give the command in a comment of its own.';

/**
 * Obeys the commands of a text. Each is remembered by where it stands, so that the same text under another delivery does
 * nothing again.
 */
export async function handleCommands(app: App, spoken: Spoken): Promise<void> {
  if (spoken.sender.type === 'Bot' || app.github === undefined) return;
  const { body, commentId } = spoken;
  // The App's slug is looked up once; mentions are matched against it.
  const slug = body.includes('@') ? await app.github.slug() : undefined;
  const marks = { prefix: app.config.COMMAND_PREFIX, slug };
  if (!mayHoldCommands(body, marks)) return;
  const found = await placeOfEvent(app, { id: spoken.installationId }, spoken.repository);
  if (found === undefined) return;
  const { octokit, name, repository } = found;
  const { right, login } = await rightOf(octokit, name, spoken.sender);
  const isPrivate = spoken.repository.private;
  const refuse = () => react(octokit, name, spoken, 'confused');
  // In a public repository a stranger gets no answer at all, so that nobody can make us noisy.
  if (right === 'none' || (right === 'read' && !isPrivate)) return isPrivate ? refuse() : undefined;
  const commands = await readCommands(body, marks);
  if (commands === undefined) {
    await refuse();
    return say(app, { octokit, name, issue: spoken.issue, repository }, unreadable);
  }
  if (commands.length === 0) return;
  if (right === 'read' && !commands.every(isForReaders)) return refuse();
  if (!(await isStillThere(octokit, name, commentId))) return;
  const user = await upsertUser(app.db.manager, { ...spoken.sender, login });
  const place = `${spoken.repository.id}/${spoken.issue.number}/${commentId ?? 'body'}`;
  // The same comment under several deliveries at once: they take turns, and all but the first find it handled.
  // Those about one plan take turns by its issue.
  const isPlanning = commands.some((c) => planVerbs.has(c.verb));
  const turn = isPlanning ? `plan ${spoken.repository.id}/${spoken.issue.number}` : `commands ${place}`;
  await app.db.turn(turn, () =>
    obeyAll(app, octokit, name, { spoken, repository, commands, userId: user.id, place, right }),
  );
}

const isForReaders = ({ verb }: Command) => verb === 'help' || verb === 'status';

/** The label that starts a task: the same as the command, said by whoever put it on. */
export async function handleLabel(app: App, place: Place, number: number, user: { id: string }): Promise<void> {
  const { octokit, name, repository } = place;
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}', {
    ...name,
    issue_number: number,
  });
  const issue = { number, title: data.title, body: data.body ?? '', url: data.html_url, isPull: false };
  const command = { verb: 'start', argument: '', line: 0 };
  const at = { octokit, name };
  const order = {
    command,
    spoken: { issue },
    commentId: null,
    at,
    repository,
    userId: user.id,
    remember: async () => {},
  };
  const refusal = await refusalOf(() => obey(app, order));
  await tell(app, { octokit, name, issue, repository }, { command, refusal });
}

interface Hearing {
  spoken: Spoken;
  repository: RepositoryRow;
  commands: Command[];
  userId: string;
  place: string;
  right: 'write' | 'read';
}

/** A comment that was deleted meanwhile is not obeyed any more. */
async function isStillThere(octokit: Octokit, name: Place['name'], commentId: number | null): Promise<boolean> {
  if (commentId === null) return true;
  const path = 'GET /repos/{owner}/{repo}/issues/comments/{comment_id}';
  return octokit.request(path, { ...name, comment_id: commentId }).then(
    () => true,
    (error) => {
      if (isRefusedWith(error, 404, 410)) return false;
      throw error;
    },
  );
}

async function obeyAll(
  app: App,
  octokit: Octokit,
  name: { owner: string; repo: string },
  hearing: Hearing,
): Promise<void> {
  const { spoken, repository, commands, userId, place, right } = hearing;
  const em = app.db.manager;
  let isNew = false;
  let isRefused = false;
  for (const [i, command] of commands.entries()) {
    const key = `${place}/${command.line}`;
    if (await wasCommandHandled(em, key)) continue;
    isNew = true;
    // Only the first of too many is answered; the rest would say the same.
    if (i > maxCommands) break;
    await react(octokit, name, spoken, 'eyes');
    const refusal = await refusalOf(async () => {
      if (i === maxCommands) return `a comment may hold ${maxCommands} commands, and this is one more`;
      const remember = (tx: EntityManager) => insertHandledCommand(tx, key);
      const { commentId } = spoken;
      return obey(app, { command, spoken, commentId, at: { octokit, name }, repository, userId, remember });
    });
    await insertHandledCommand(em, key);
    isRefused ||= refusal !== undefined;
    // Readers get the reaction, and what they asked for, but no reasons.
    if (right === 'write' || command.verb === 'help')
      await tell(app, { octokit, name, issue: spoken.issue, repository }, { command, refusal });
  }
  if (isNew) await react(octokit, name, spoken, isRefused ? 'confused' : 'rocket');
}

/** Runs a command; its refusal in words, or undefined when it was done. What failed on our side is thrown. */
async function refusalOf(act: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Refused) return error.message;
    if (error instanceof AppError && error.status < 600) return error.message;
    throw error;
  }
}

interface Spot {
  octokit: Octokit;
  name: { owner: string; repo: string };
  issue: Spoken['issue'];
  repository: RepositoryRow;
}

/** What became of a command, for people; an empty text when there is nothing to say. */
function answerTo(app: App, { isPull }: Spoken['issue'], hasTask: boolean, { command, refusal }: Outcome): string {
  if (command.verb === 'help') return helpText(app, isPull, hasTask);
  const spelled = `\`${app.config.COMMAND_PREFIX} ${oneLine(command.verb, 30)}\``;
  return refusal === undefined ? '' : `😕 ${spelled} was refused: ${refusal}`;
}

interface Outcome {
  command: Command;
  refusal: string | undefined;
}

async function tell(app: App, spot: Spot, outcome: Outcome): Promise<void> {
  const hasTask = (await taskOfPlace(app, spot.repository.id, spot.issue.number, spot.issue.isPull)) !== undefined;
  await say(app, spot, answerTo(app, spot.issue, hasTask, outcome));
}

/** Says it in the status comment; where there is none, in one reply that is edited from then on. */
async function say(app: App, { octokit, name, issue, repository }: Spot, said: string): Promise<void> {
  const taskId = await taskOfPlace(app, repository.id, issue.number, issue.isPull);
  if (taskId !== undefined) {
    await setNotice(app.db.manager, taskId, repository.id, issue.number, said);
    await showTask(app, undefined, taskId);
  } else if (said !== '')
    await reply(app, octokit, { ...name, issue_number: issue.number }, said).catch((error) => {
      // Locked or deleted meanwhile: there is nowhere to say it.
      if (!isRefusedWith(error, 403, 404, 410)) throw error;
    });
}

/** A reaction that is there already is not made twice, so one that failed may be repeated; it holds nothing up. */
async function react(
  octokit: Octokit,
  name: { owner: string; repo: string },
  { commentId, issue }: Spoken,
  content: 'eyes' | 'rocket' | 'confused',
): Promise<void> {
  const give = () =>
    commentId === null
      ? octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/reactions', {
          ...name,
          issue_number: issue.number,
          content,
        })
      : octokit.request('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', {
          ...name,
          comment_id: commentId,
          content,
        });
  // The comment may be deleted or the issue locked by now; a reaction is a courtesy.
  await give().catch((error) => (httpStatusOf(error) >= 500 ? give().catch(() => {}) : undefined));
}

const onlyOnIssues = new Set(['create', 'plan', 'answer', 'approve']);

/** The commands that work in that place. */
function helpText(app: App, isPull: boolean, hasTask: boolean): string {
  const onPull = (name: string) => name === 'help' || name === 'ask' || (hasTask && !onlyOnIssues.has(name));
  const isHere = (name: string) => !isPull || onPull(name);
  const lines = Object.entries(verbs)
    .filter(([name]) => isHere(name))
    .map(
      ([name, { takes, does }]) =>
        `\`${app.config.COMMAND_PREFIX} ${[name, takes].filter(Boolean).join(' ')}\` ${does}`,
    );
  return `Commands here: ${lines.join('; ')}.`;
}
