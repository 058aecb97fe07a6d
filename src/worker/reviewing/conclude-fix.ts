import type { App } from '../../app.ts';
import type { JudgedEnding } from '../../conversation/ending.ts';
import { RunFailed } from '../../domain/run.ts';
import { runPage } from '../../domain/task.ts';
import { harmlessText, oneLine } from '../../domain/text/sanitize.ts';
import { GitFailed } from '../../git/engine.ts';
import { branchProblem } from '../../runs/reviewing/ask-fix.ts';
import { findAsk, type PullAsk } from '../../runs/reviewing/store.ts';
import { isOurs } from '../../runs/reviewing/summary-comment.ts';
import type { Pushed } from '../publish/publish.ts';
import type { Work } from '../work.ts';
import { placeOfPull } from './post-review.ts';

/** The first line of the comment that says what a fix did. */
const fixMarker = (runId: string) => `<!-- deckhand:fix ${runId} -->`;

/** Finds the pull request on whose branch a run works. */
export async function pullOfFix(app: App, work: Work): Promise<PullAsk> {
  const ask = await findAsk(app.db.manager, work.run.id);
  if (ask !== undefined) return ask;
  throw new RunFailed('internal', 'nobody knows which pull request this run fixes');
}

/**
 * Checks that the branch of a pull request may get a commit now: it is as the run found it, and is neither protected nor the
 * default branch. Between this and the push, the host refuses what is no fast-forward.
 * @throws RunFailed
 */
export async function assertMayPush(app: App, work: Work, ask: PullAsk): Promise<void> {
  const { branch, repository, signal } = work;
  const { octokit, name } = await placeOfPull(app, work, ask.number);
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  const read = () => octokit.request(path, { ...name, pull_number: ask.number, request: { signal } });
  const { data: pull } = await work.retrying(read);
  const problem = await work.retrying(() => branchProblem(app, { octokit, name, pull }, repository));
  if (problem !== undefined) throw new RunFailed('push_rejected', problem);
  if (pull.head.ref !== branch.name)
    throw new RunFailed('push_rejected', `the pull request has another branch than ${branch.name} now`);
}

/** Says what to do when somebody else pushed first. Their commits stay. */
export function asLostRace(error: unknown, { branch }: Work): unknown {
  if (!(error instanceof GitFailed) || error.fault !== 'rejected') return error;
  const message = `${branch.name} got other commits while the agent worked, so nothing was pushed; write \`fix\` again, and the agent begins from the new ones`;
  return new RunFailed('conflict', message, { cause: error });
}

/** Says on the pull request what a fix did, once. */
export async function tellFix(
  app: App,
  work: Work,
  ask: PullAsk,
  { finish }: Pick<JudgedEnding, 'finish'>,
  pushed: Pushed | undefined,
): Promise<void> {
  const { run, journal } = work;
  const prefix = app.config.COMMAND_PREFIX;
  const marker = fixMarker(run.id);
  const done =
    pushed === undefined
      ? 'Nothing had to be changed.'
      : `Pushed ${pushed.commit} to \`${oneLine(ask.headBranch, 200).replaceAll('`', "'")}\`.`;
  const page = runPage(app.config.BASE_URL, run.taskId, run.id);
  const body = [marker, done, '', harmlessText(finish.summary, 8000, prefix), '', `[Log](${page})`].join('\n');
  await journal.once('fix told', async () => {
    await work.retrying(async () => {
      const { credential, octokit, name } = await placeOfPull(app, work, ask.number);
      const isOwn = await isOurs(app, credential);
      const at = { ...name, issue_number: ask.number };
      const pages = octokit.paginate.iterator('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
        ...at,
        per_page: 100,
      });
      for await (const { data } of pages)
        if (data.some((comment) => comment.body?.startsWith(marker) && isOwn(comment))) return;
      await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...at, body });
    });
    return {};
  });
}
