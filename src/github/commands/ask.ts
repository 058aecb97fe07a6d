import { type Asking, converseInChat } from '../../agents/chat/converse.ts';
import { findBuiltInAgent } from '../../agents/store.ts';
import type { App } from '../../app.ts';
import { defaultAgentKey } from '../../domain/agent.ts';
import { Refused } from '../../domain/machine.ts';
import { fenced, harmlessText, plain } from '../../domain/text/sanitize.ts';
import { findUser } from '../../projects/store.ts';
import { rightProblem } from '../../repositories/rights.ts';
import { findRepository, listRepositoriesById } from '../../repositories/store.ts';
import { chatAboutTask, type InComment, mayNameIn } from '../../runs/task-chat.ts';
import { getTask } from '../../tasks/store.ts';
import { sayOnce } from '../comments.ts';
import { answerMarker, replyOnce } from '../diff/reply.ts';
import { type GivenCommand, issueOf, mustHidePrivate, taskOfCommand, textIdOf, textOf } from '../given-command.ts';

const maxAnswer = 20_000;

/**
 * Replies to a question in a separate comment. The task's agent writes the reply; without a task, the Developer does.
 */
export async function ask(app: App, given: GivenCommand): Promise<void> {
  const { at, source } = given;
  const textId = textIdOf({ ...given, ...source });
  const message = textOf(given);
  if (message === '') throw new Refused('Write your question after `ask`.');
  const taskId = await taskOfCommand(app, given);
  const place = `${at.name.owner}/${at.name.repo}#${source.issue.number}`;
  const user = await findUser(app.db.manager, given.userId);
  const asking = {
    user: { id: given.userId, login: user?.login ?? 'ghost' },
    message,
    request: `comment ${place} ${textId}/${given.command.line}`,
  };
  const comment = replyIn(app, given, await mustHidePrivate(app, given));
  const text = await (taskId === undefined
    ? withoutTask(app, given, asking, comment)
    : aboutTask(app, taskId, asking, comment));
  const answer = harmlessText(text, maxAnswer, app.config.COMMAND_PREFIX);
  // Each question gets one reply. If the command is repeated after a crash, the marker finds the reply.
  const about = `${textId}/${given.command.line}`;
  if (source.inReview?.kind === 'thread')
    return replyOnce(app, { ...at, number: source.issue.number, firstId: source.inReview.firstId }, about, answer);
  const marker = answerMarker(about);
  const issue = { ...at.name, issue_number: source.issue.number };
  await sayOnce(app, at.octokit, issue, marker, `${marker}\n${answer}`);
}

/** Returns what a reply to the asker may say where it is written. Each repository is asked about once. */
function replyIn(app: App, { repository, userId }: GivenCommand, hidesPrivate: boolean): InComment {
  const known = new Map([[repository.id, Promise.resolve(true)]]);
  const ask = async (id: string) => {
    const [named] = await listRepositoriesById(app.db.manager, [id]);
    if (named === undefined || (hidesPrivate && named.isPrivate)) return false;
    return (await rightProblem(app, [userId], named, 'read')) === undefined;
  };
  const mayTellOf = (id: string) => {
    const answer = known.get(id) ?? ask(id);
    known.set(id, answer);
    return answer;
  };
  return { hidesPrivate, mayTellOf };
}

async function aboutTask(app: App, taskId: string, asking: Asking, comment: InComment): Promise<string> {
  const task = await getTask(app.db.manager, taskId);
  const connected = task.repositoryId === null ? null : await findRepository(app.db.manager, task.repositoryId);
  // A task without a branch has not changed its repository.
  if (connected === null && task.branchName !== null)
    throw new Refused(
      'The repository in which the task worked is no longer connected, so nobody can be asked who may read it. Ask in the dashboard.',
    );
  if (comment.hidesPrivate && connected?.isPrivate)
    throw new Refused(
      'The task works in a private repository, and this comment is public. Ask in the dashboard, or turn on the project setting sharePrivateContext.',
    );
  if (connected !== null && !(await comment.mayTellOf(connected.id)))
    throw new Refused('The task works in a repository that you may not read.');
  return chatAboutTask(app, task, asking, comment);
}

async function withoutTask(app: App, given: GivenCommand, asking: Asking, comment: InComment): Promise<string> {
  const { repository } = given;
  const agent = (await findBuiltInAgent(app.db.manager, repository.projectId, defaultAgentKey)) ?? undefined;
  const { title, shown } = issueOf(given);
  return converseInChat(app, {
    about: undefined,
    at: undefined,
    projectId: repository.projectId,
    agent,
    context: `# ${plain(title)}\n${fenced(shown.slice(0, 20_000))}`,
    reads: { repository, branch: null },
    mayName: mayNameIn(comment),
    ...asking,
  });
}
