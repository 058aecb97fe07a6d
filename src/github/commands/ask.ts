import { type Asking, converseInChat } from '../../agents/chat/converse.ts';
import { findBuiltInAgent } from '../../agents/store.ts';
import type { App } from '../../app.ts';
import { defaultAgentKey } from '../../domain/agent.ts';
import { Refused } from '../../domain/machine.ts';
import { closedBlocks, fenced, harmless, plain } from '../../domain/text/sanitize.ts';
import { findUser } from '../../projects/store.ts';
import { rightProblem } from '../../repositories/rights.ts';
import { findRepository, listRepositoriesById } from '../../repositories/store.ts';
import { chatAboutTask } from '../../runs/chat.ts';
import { getTask } from '../../tasks/store.ts';
import { sayOnce } from '../comments.ts';
import { type GivenCommand, issueOf, mustHidePrivate, taskOfCommand } from '../given-command.ts';

const maxAnswer = 20_000;

/**
 * Replies to a question in a separate comment. The task's agent writes the reply; without a task, the Developer does.
 */
export async function ask(app: App, given: GivenCommand): Promise<void> {
  const { at, source, commentId } = given;
  const message = plain(given.command.argument);
  if (message === '') throw new Refused('Write your question after `ask`.');
  const taskId = await taskOfCommand(app, given);
  const place = `${at.name.owner}/${at.name.repo}#${source.issue.number}`;
  const user = await findUser(app.db.manager, given.userId);
  const asking = {
    user: { id: given.userId, login: user?.login ?? 'ghost' },
    message,
    request: `comment ${place} ${commentId ?? 'body'}/${given.command.line}`,
  };
  const hidesPrivate = await mustHidePrivate(app, given);
  const text = await (taskId === undefined
    ? withoutTask(app, given, asking, hidesPrivate)
    : aboutTask(app, taskId, asking, hidesPrivate));
  const answer = closedBlocks(harmless(text, app.config.COMMAND_PREFIX).slice(0, maxAnswer));
  // Each question gets one reply. If the command is repeated after a crash, the marker finds the reply.
  const marker = `<!-- deckhand:answer ${commentId ?? 'body'}/${given.command.line} -->`;
  const issue = { ...at.name, issue_number: source.issue.number };
  await sayOnce(app, at.octokit, issue, marker, `${marker}\n${answer}`);
}

async function aboutTask(app: App, taskId: string, asking: Asking, hidesPrivate: boolean): Promise<string> {
  const task = await getTask(app.db.manager, taskId);
  const connected = task.repositoryId === null ? null : await findRepository(app.db.manager, task.repositoryId);
  // Treats a repository that is no longer connected as private. A task without a branch has not read its repository.
  const source = connected ?? { isPrivate: task.branchName !== null };
  if (hidesPrivate && source.isPrivate)
    throw new Refused(
      'The task works in a private repository, and this comment is public. Ask in the dashboard, or turn on the project setting sharePrivateContext.',
    );
  const mayTellOf = async (id: string) => {
    const [opened] = await listRepositoriesById(app.db.manager, [id]);
    if (opened === undefined || (hidesPrivate && opened.isPrivate)) return false;
    return (await rightProblem(app, [asking.user.id], opened, 'read')) === undefined;
  };
  return chatAboutTask(app, task, asking, { hidesPrivate, mayTellOf });
}

async function withoutTask(app: App, given: GivenCommand, asking: Asking, hidesPrivate: boolean): Promise<string> {
  const { repository } = given;
  const agent = (await findBuiltInAgent(app.db.manager, repository.projectId, defaultAgentKey)) ?? undefined;
  const { title, body } = issueOf(given);
  return converseInChat(app, {
    about: undefined,
    projectId: repository.projectId,
    agent,
    context: `# ${plain(title)}\n${fenced(plain(body).slice(0, 20_000))}`,
    reads: { repository, branch: null },
    hidesPrivate,
    ...asking,
  });
}
