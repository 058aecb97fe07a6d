import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { harmless, oneLine } from '../../domain/text/sanitize.ts';
import { AppError } from '../../errors.ts';
import { type Command, type Marks, maxCommands, mayHoldCommands } from '../../markdown/commands.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { upsertUser } from '../../projects/store.ts';
import { rightOf } from '../../repositories/permission.ts';
import { refusalsIn } from '../../repositories/rights.ts';
import { apart } from '../../threads/apart.ts';
import { NoAnswer } from '../../threads/start-thread.ts';
import { httpStatusOf, type Place, placeOfEvent } from '../app/place.ts';
import { commandTable, isCommandTable } from '../comments.ts';
import { replyOnce } from '../diff/reply.ts';
import { type CommandSource, type GivenCommand, type IssueThen, taskOfPlace, textIdOf } from '../given-command.ts';
import { showIssue } from '../issue-task.ts';
import { findTaskNames, withTaskNames } from '../mirror/task-names.ts';
import { claimCommandRecord, clearNotices, insertHandledCommand, wasCommandHandled } from '../store.ts';
import { postNotice, removeReply } from './notices.ts';
import { carryOut, type Verb, verbNamed, verbs } from './verbs.ts';

/** GitHub's limit for comments and the bodies of issues, in characters. */
const maxChars = 65_536;

const parser = apart<typeof import('../../markdown/commands.ts')>(
  new URL('../../markdown/commands.ts', import.meta.url),
  { seconds: 2, heapMb: 256 },
);

/**
 * Parses the commands of a comment. Returns undefined when GitHub shows other words than our parser finds, or when parsing takes
 * more than two seconds of processor time: 64 kB of `1. ` take minutes. Call it only for people who are allowed to give commands, so
 * that nobody else can keep the threads busy.
 * @throws NoAnswer
 */
export async function readCommands(body: string, marks: Marks): Promise<Command[] | undefined> {
  if (body.length > maxChars) return undefined;
  // The parser throws on Markdown that is nested too deeply.
  return parser.call('parseCommands', body, marks).catch((error) => {
    if (error instanceof NoAnswer) throw error;
    return undefined;
  });
}

const unreadable =
  'Deckhand cannot tell what GitHub shows of the Markdown of this comment. Write the command in a separate comment.';

/**
 * Executes the commands in a comment or an issue's body. Each command is recorded by its position in the text, so
 * that a second delivery of the same text does not repeat it.
 */
export async function handleCommands(app: App, source: CommandSource): Promise<void> {
  if (source.sender.type === 'Bot' || app.github === undefined) return;
  const { body } = source;
  // The App's slug is needed only to recognize mentions of the App, so it is looked up only if the text mentions
  // anybody.
  const slug = body.includes('@') ? await app.github.slug() : undefined;
  const marks = { prefix: app.config.COMMAND_PREFIX, slug };
  if (!mayHoldCommands(body, marks)) return;
  const place = await placeOfEvent(app, { id: source.installationId }, source.repository);
  if (place === undefined) return;
  const { right, login } = await rightOf(place.octokit, place.name, source.sender);
  const isPrivate = source.repository.private;
  const refuse = () => react(place, source, 'confused');
  // Users without write permission get no reply in a public repository, so that they cannot make the App flood it.
  if (right === 'none' || (right === 'read' && !isPrivate)) return isPrivate ? refuse() : undefined;
  const commands = await readCommands(body, marks);
  if (commands === undefined) {
    await refuse();
    return sayHere(app, place, source, 'all', unreadable);
  }
  if (commands.length === 0) return;
  if (right === 'read' && !commands.every(({ verb }) => verbNamed(verb)?.isForReaders)) return refuse();
  if (!(await isStillThere(place, source))) return;
  const user = await upsertUser(app.db.manager, { ...source.sender, login });
  const shown = { ...source, issue: await showIssue(source.issue) };
  await carryOutInOrder(app, place, { source: shown, commands, userId: user.id, right });
}

/**
 * Executes commands under a lock. Without it, two deliveries of the same text could both find a command not yet
 * recorded. Commands about one plan share a lock too.
 */
async function carryOutInOrder(app: App, place: Place, batch: Omit<CommandBatch, 'textKey'>): Promise<void> {
  const { repository, issue } = batch.source;
  const textKey = `${repository.id}/${issue.number}/${textIdOf(batch.source)}`;
  const isPlanning = batch.commands.some(({ verb }) => verbNamed(verb)?.locksPlan);
  const lock = isPlanning ? `plan ${repository.id}/${issue.number}` : `commands ${textKey}`;
  await app.db.withLock(lock, () => carryOutAll(app, place, { ...batch, textKey }));
}

/** Handles the label that starts a task, like the command `start` from the person who added the label. */
export async function handleLabel(
  app: App,
  place: Place,
  labelled: IssueThen,
  { user, remember }: { user: { id: string } } & Pick<GivenCommand, 'remember'>,
): Promise<void> {
  const { octokit, name, repository } = place;
  const issue = await showIssue({ ...labelled, isPull: false });
  const command = { verb: 'start', argument: '', line: 0, text: '', isCut: false, comment: '' };
  const given: GivenCommand = {
    command,
    source: { issue },
    commentId: null,
    writtenAt: undefined,
    isMissed: false,
    at: { octokit, name },
    repository,
    userId: user.id,
    via: 'label',
    remember,
  };
  const hadTask = await hasTask(app, place, issue);
  const refusal = await refusalOf(() => carryOut(app, given));
  await sayOutcome(app, place, { issue, commentId: null }, { command, refusal, hadTask });
}

/** Where a command was given: an issue or pull request, a comment on it, or a review. */
type Source = Pick<CommandSource, 'issue' | 'commentId' | 'inReview'>;

/** The commands of one text, and the person who wrote them. */
interface CommandBatch {
  source: CommandSource & GivenCommand['source'];
  commands: Command[];
  userId: string;
  /** Prefix of the keys by which the commands of this text are recorded. */
  textKey: string;
  right: 'write' | 'read';
}

async function carryOutAll(app: App, place: Place, batch: CommandBatch): Promise<void> {
  const { source, commands, textKey, right } = batch;
  const em = app.db.manager;
  let isNew = false;
  let isRefused = false;
  for (const [i, command] of commands.entries()) {
    const key = `${textKey}/${command.line}`;
    if (await wasCommandHandled(em, key)) continue;
    isNew = true;
    // Only the first command over the limit gets a reply; the others would get the same one.
    if (i > maxCommands) break;
    await react(place, source, 'eyes');
    const hadTask = await hasTask(app, place, source.issue);
    const refusal =
      i === maxCommands
        ? `A comment may contain at most ${maxCommands} commands. This command and those after it were ignored.`
        : await refusalOf(() => carryOut(app, givenCommand(place, batch, command, key)));
    isRefused ||= refusal !== undefined;
    // People with only read permission get a reaction, and the help if they asked for it, but no reasons.
    const isTold = right === 'write' || command.verb === 'help';
    // Said before the command counts as handled. Otherwise the answer would be lost with a process that ends here.
    if (isTold) await sayOutcome(app, place, source, { command, refusal, hadTask });
    await insertHandledCommand(em, key);
  }
  if (isNew) await react(place, source, isRefused ? 'confused' : 'rocket');
}

function givenCommand(
  { octokit, name, repository }: Place,
  { source, userId }: CommandBatch,
  command: Command,
  key: string,
): GivenCommand {
  const remember = (em: EntityManager) => insertHandledCommand(em, key);
  const claimRecord = (em: EntityManager) => claimCommandRecord(em, key);
  const { commentId, isMissed = false } = source;
  const writtenAt = new Date(source.writtenAt);
  const at = { octokit, name };
  const how = { via: 'comment', remember, claimRecord } as const;
  return { command, source, commentId, writtenAt, isMissed, at, repository, userId, ...how };
}

/** Executes a command. Returns the reason when it is refused, otherwise undefined. Other failures are thrown. */
async function refusalOf(act: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Refused || error instanceof AppError) return error.message;
    throw error;
  }
}

/** Describes the result of a command to people. Returns an empty string when there is nothing to say. */
function answerTo(
  app: App,
  { issue: { isPull }, inReview }: Source,
  hasTask: boolean,
  { command, refusal }: Outcome,
): string {
  if (command.verb === 'help') return helpText(app, isPull, hasTask);
  const spelled = `\`${app.config.COMMAND_PREFIX} ${oneLine(command.verb, 30)}\``;
  if (refusal !== undefined) return `😕 ${spelled} was refused: ${refusal}`;
  // Asked for in a review, a change is all that the comment says.
  const isWhole = inReview !== undefined && command.verb === 'revise';
  return command.isCut && !isWhole
    ? `ℹ️ ${spelled} took your words up to the first blank line. What follows may be the words of others, so write all of it in one paragraph.`
    : '';
}

interface Outcome {
  command: Command;
  refusal: string | undefined;
  /** The issue had a task before the command. */
  hadTask: boolean;
}

async function hasTask(app: App, { repository }: Place, { number, isPull }: CommandSource['issue']): Promise<boolean> {
  return (await taskOfPlace(app, repository.id, number, isPull)) !== undefined;
}

async function sayOutcome(app: App, place: Place, source: Source, outcome: Outcome): Promise<void> {
  const { issue } = source;
  const taskId = await taskOfPlace(app, place.repository.id, issue.number, issue.isPull);
  const text = answerTo(app, source, taskId !== undefined, outcome);
  // Remove the refusal of an earlier command. It is in the status comment, or in its own comment if there was no task.
  if (text === '' && taskId !== undefined) await clearNotices(app.db.manager, taskId);
  if (text === '' && !outcome.hadTask) await removeReply(app, place, issue);
  await sayHere(app, place, source, `${outcome.command.line}`, text);
}

/** Shows a text where the command was given: in its thread, otherwise in the status comment or in a reply. */
function sayHere(app: App, place: Place, source: Source, about: string, text: string): Promise<void> {
  return text !== '' && source.inReview?.kind === 'thread'
    ? sayInThread(app, place, source, `${textIdOf(source)}/${about}`, text)
    : postNotice(app, place, source.issue, text);
}

/** Lists the commands that work on this issue or pull request. */
function helpText(app: App, isPull: boolean, hasTask: boolean): string {
  const onPull = ({ worksWithoutTask, listedOn }: Verb) => worksWithoutTask || (hasTask && listedOn !== 'issues');
  const isHere = (verb: Verb) => (isPull ? onPull(verb) : verb.listedOn !== 'pulls');
  const here = Object.entries(verbs).filter(([, verb]) => isHere(verb));
  return commandTable(
    here.map(([name, { takes, does }]) => ({
      command: [app.config.COMMAND_PREFIX, name, takes].filter(Boolean).join(' '),
      does,
    })),
  );
}

/** Returns whether the comment or review still exists. The commands of a deleted one are not executed. */
async function isStillThere({ octokit, name }: Place, { issue, commentId, inReview }: Source): Promise<boolean> {
  const read = () => {
    if (inReview?.kind === 'thread')
      return octokit.request('GET /repos/{owner}/{repo}/pulls/comments/{comment_id}', {
        ...name,
        comment_id: inReview.commentId,
      });
    if (inReview?.kind === 'review')
      return octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}', {
        ...name,
        pull_number: issue.number,
        review_id: inReview.reviewId,
      });
    return octokit.request('GET /repos/{owner}/{repo}/issues/comments/{comment_id}', {
      ...name,
      comment_id: commentId ?? 0,
    });
  };
  if (commentId === null && inReview === undefined) return true;
  return read().then(
    () => true,
    (error: unknown) => {
      if (isRefusedWith(error, 404, 410)) return false;
      throw error;
    },
  );
}

/**
 * Adds a reaction to the comment or issue. GitHub keeps one reaction of each kind, so a failed attempt can be retried.
 * What a review says of the whole takes no reactions in GitHub's REST API.
 */
async function react(
  { octokit, name }: Place,
  { commentId, issue, inReview }: Source,
  content: 'eyes' | 'rocket' | 'confused',
): Promise<void> {
  const give = () => {
    if (inReview?.kind === 'thread')
      return octokit.request('POST /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions', {
        ...name,
        comment_id: inReview.commentId,
        content,
      });
    return commentId === null
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
  };
  if (inReview?.kind === 'review') return;
  // A failed reaction must not stop the command: the comment may be deleted, or the issue locked.
  await give().catch((error) => (httpStatusOf(error) >= 500 ? give().catch(() => {}) : undefined));
}

/** Answers a command in the thread in which it was given, once. `about` tells the command from others in the thread. */
async function sayInThread(
  app: App,
  { octokit, name, repository }: Place,
  { issue: { number }, inReview }: Source,
  about: string,
  text: string,
): Promise<void> {
  if (inReview?.kind !== 'thread') return;
  const told = (await refusalsIn(app.db.manager, repository))(text);
  const names = await findTaskNames(app, repository.projectId, repository, told);
  const shown = isCommandTable(told) ? told : withTaskNames(harmless(told, app.config.COMMAND_PREFIX), names);
  await replyOnce(app, { octokit, name, number, firstId: inReview.firstId }, about, shown);
}
