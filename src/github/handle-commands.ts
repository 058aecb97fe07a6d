import type { App, Octokit } from '../app.ts';
import type { RepositoryRow } from '../db/tables.ts';
import { type Command, maxCommands, parseCommands } from '../domain/commands.ts';
import { Refused } from '../domain/machine.ts';
import { AppError } from '../errors.ts';
import { type GitHubUser, upsertUser } from '../projects/store.ts';
import { mayWrite, nameOnGitHub } from '../repositories/credentials.ts';
import { showTask } from '../tasks/move.ts';
import { obey, verbNames } from './command-verbs.ts';
import { reply } from './replies.ts';
import {
  findInstalledRepository,
  findTaskOfIssue,
  insertHandledCommand,
  setNotice,
  wasCommandHandled,
} from './store.ts';

/** A text on GitHub that may hold commands: a new comment, or the body of a new issue. */
export interface Spoken {
  installationId: number;
  repository: { id: number; private: boolean };
  issue: { number: number; title: string; body: string; url: string; isPull: boolean };
  sender: GitHubUser & { type?: string };
  body: string;
  /** The comment it stands in; null for the body of the issue itself. */
  commentId: number | null;
}

/**
 * Obeys the commands of a text (decisions, section 9). Each is remembered by where it stands, so that the same text
 * under another delivery does nothing again.
 */
export async function handleCommands(app: App, spoken: Spoken): Promise<void> {
  const commands = parseCommands(spoken.body, app.config.COMMAND_PREFIX);
  if (commands.length === 0 || spoken.sender.type === 'Bot' || app.github === undefined) return;
  const em = app.db.manager;
  const repository = await findInstalledRepository(em, spoken.installationId, spoken.repository.id);
  const name = repository && nameOnGitHub(app, repository.url);
  if (repository === undefined || name === undefined) return;
  const octokit = await app.github.asInstallation(spoken.installationId);
  if (!(await mayWrite(octokit, name, spoken.sender.login))) {
    // In a public repository a stranger gets no answer at all, so that nobody can make us noisy.
    if (spoken.repository.private) await react(octokit, name, spoken, 'confused');
    return;
  }
  const user = await upsertUser(em, spoken.sender);
  const place = `${spoken.repository.id}/${spoken.issue.number}/${spoken.commentId ?? 'body'}`;
  // The same comment under several deliveries at once: they take turns, and all but the first find it handled.
  await app.db.transaction(async (turn) => {
    await turn.query('select pg_advisory_xact_lock(hashtextextended($1, 5))', [place]);
    await obeyAll(app, octokit, name, { spoken, repository, commands, userId: user.id, place });
  });
}

interface Hearing {
  spoken: Spoken;
  repository: RepositoryRow;
  commands: Command[];
  userId: string;
  place: string;
}

async function obeyAll(
  app: App,
  octokit: Octokit,
  name: { owner: string; repo: string },
  hearing: Hearing,
): Promise<void> {
  const { spoken, repository, commands, userId, place } = hearing;
  const em = app.db.manager;
  let isNew = false;
  let isRefused = false;
  for (const command of commands.slice(0, maxCommands)) {
    const key = `${place}/${command.line}`;
    if (await wasCommandHandled(em, key)) continue;
    isNew = true;
    await react(octokit, name, spoken, 'eyes');
    const refusal = await refusalOf(() =>
      obey(app, { command, spoken, repository, userId, remember: (tx) => insertHandledCommand(tx, key) }),
    );
    await insertHandledCommand(em, key);
    isRefused ||= refusal !== undefined;
    await tell(app, octokit, name, { spoken, repository, command, refusal });
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

interface Outcome {
  spoken: Spoken;
  repository: RepositoryRow;
  command: Command;
  refusal: string | undefined;
}

/** Says why in the status comment; where there is none, in one reply that is edited from then on. */
async function tell(
  app: App,
  octokit: Octokit,
  name: { owner: string; repo: string },
  outcome: Outcome,
): Promise<void> {
  const { spoken, repository, command, refusal } = outcome;
  const { number } = spoken.issue;
  const spelled = `\`${app.config.COMMAND_PREFIX} ${command.verb}\``;
  const said =
    command.verb === 'help' ? helpText(app) : refusal === undefined ? '' : `${spelled} was refused: ${refusal}`;
  const taskId = await findTaskOfIssue(app.db.manager, repository.id, number);
  if (taskId !== undefined) {
    await setNotice(app.db.manager, taskId, repository.id, number, said);
    await showTask(app, undefined, taskId);
  } else if (said !== '') await reply(app, octokit, { ...name, issue_number: number }, said);
}

async function react(
  octokit: Octokit,
  name: { owner: string; repo: string },
  { commentId, issue }: Spoken,
  content: 'eyes' | 'rocket' | 'confused',
): Promise<void> {
  try {
    if (commentId === null)
      await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/reactions', {
        ...name,
        issue_number: issue.number,
        content,
      });
    else
      await octokit.request('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', {
        ...name,
        comment_id: commentId,
        content,
      });
  } catch (error) {
    // The comment may be deleted or the issue locked by now; a reaction is a courtesy.
    if (![403, 404, 422].includes((error as { status?: number }).status ?? 0)) throw error;
  }
}

function helpText(app: App): string {
  return `Commands here: ${verbNames.map((verb) => `\`${app.config.COMMAND_PREFIX} ${verb}\``).join(', ')}.`;
}
