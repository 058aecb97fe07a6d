import type { App } from '../../app.ts';
import type { UserRow } from '../../db/tables/project.ts';
import { harmlessLine, withoutCiSkips } from '../../domain/text/sanitize.ts';
import type { Person } from '../../git/engine.ts';
import type { Credential } from '../../repositories/credentials.ts';
import { conformedTitle, problemsWithMessage } from '../../repositories/customs/commit-rules.ts';
import { stepOf } from '../../runs/journal.ts';
import { findStarter } from '../../runs/store.ts';
import type { Work } from '../work.ts';

/** Longer lines of a message break the usual rules of commitlint. */
const maxLine = 100;

/**
 * Returns the title of the commit and of the pull request of a repository, in the form that the repository wants.
 * `most` is the length of a title where every form is right.
 */
export async function titleOf(app: App, work: Work, title: string, most: number): Promise<string> {
  const { customs, task, repository, journal } = work;
  const prefix = app.config.COMMAND_PREFIX;
  if (customs.rules === undefined) return withoutCiSkips(harmlessLine(title, most, prefix));
  const given = harmlessLine(title, 200, prefix);
  // Recorded, so that a commit is the same for every worker that makes it.
  const step = await journal.once(stepOf('title', task, repository), () => written(app, work, given));
  return step.given === given ? step.title : (await written(app, work, given)).title;
}

async function written(app: App, work: Work, given: string): Promise<{ given: string; title: string }> {
  const { customs, task, checkout, branch, evidence } = work;
  const from = await checkout.treeOf(branch.from);
  const changes = evidence === undefined ? [] : await checkout.changes(from, evidence.tree);
  const instead = harmlessLine(task.title, 200, app.config.COMMAND_PREFIX);
  const paths = changes.map(({ path }) => path);
  return { given, title: withoutCiSkips(await conformedTitle({ title: given, instead, paths }, customs.rules)) };
}

/** Writes the message of a run's commit. */
export async function commitMessage(app: App, work: Work, title: string): Promise<string> {
  const { run, task, agent, credential, customs, settings } = work;
  const starter = run.startedBy === null ? undefined : await findStarter(app.db.manager, run.startedBy);
  const trailers = [
    `Task: ${task.id}`,
    ...(starter === undefined ? [] : [`Co-authored-by: ${coAuthor(app, starter)}`]),
    ...(settings.signOff ? [signedOffBy(await authorFor(app, credential))] : []),
  ];
  const subject = await titleOf(app, work, title, 72);
  const body =
    work.reverts === undefined
      ? `Work of the agent ${harmlessLine(agent.name, maxLine - 25, app.config.COMMAND_PREFIX)}.`
      : work.reverts.pulls.map(({ number, commit }) => `This reverts commit ${commit} (#${number}).`).join('\n');
  const message = withoutCiSkips(`${subject}\n\n${body}\n\n${trailers.join('\n')}\n`);
  const problems = await problemsWithMessage(message, customs.rules);
  if (problems.length > 0)
    await work.journal.note(
      'push',
      `the message of the commit does not follow all rules of ${customs.from}: ${problems.join('; ')}`,
    );
  return message;
}

/** Returns the line with which somebody signs off a commit, as `git commit --signoff` writes it. */
function signedOffBy({ name, email }: Person): string {
  return `Signed-off-by: ${name} <${email}>`;
}

function coAuthor(app: App, user: UserRow): string {
  const mail = user.githubId === null ? user.login : `${user.githubId}+${user.login}`;
  const address = `<${mail}@${noreplyHost(app)}>`;
  const room = Math.max(10, maxLine - 'Co-authored-by:  '.length - address.length);
  const name = harmlessLine(user.name || user.login, room, app.config.COMMAND_PREFIX);
  return `${name.replace(/[<>]/g, '')} ${address}`;
}

/**
 * Returns the author of our commits: the bot user of the App, or the service itself if the project only has a git
 * token.
 */
export async function authorFor(app: App, credential: Credential): Promise<Person> {
  if (credential.kind !== 'installation' || app.github === undefined)
    return { name: 'Deckhand', email: `deckhand@${noreplyHost(app)}` };
  const bot = await app.github.bot();
  return { name: bot.login, email: `${bot.id}+${bot.login}@${noreplyHost(app)}` };
}

function noreplyHost(app: App): string {
  return `users.noreply.${new URL(app.config.GITHUB_SERVER_URL).hostname}`;
}
