import type { NamedAgent } from '../../agents/store.ts';
import type { App } from '../../app.ts';
import { answeredAt, pullStatus } from '../../repositories/pulls.ts';
import { queueMirror, tryMoveTask } from '../../tasks/move.ts';
import { setTaskFields } from '../../tasks/store.ts';
import { upsertPull } from '../../tasks/work-store.ts';
import { needsEvidence } from '../follow/refresh-pull.ts';
import type { GivenCommand } from '../given-command.ts';
import { findUnknownPull, type OtherPull } from '../other-work.ts';
import { createForIssueIn } from './create-for-issue.ts';

/**
 * Takes over an open pull request of ours for an issue that has no task: a backup was restored which is older than the
 * task. Without this, the task would be made and started again, and open a second pull request. Its new task is in
 * review, and requests for changes continue on its branch. Returns whether there was such a pull request.
 */
export async function adoptPull(app: App, given: GivenCommand, agent: NamedAgent, open: OtherPull[]): Promise<boolean> {
  const { octokit, name } = given.at;
  const number = await findUnknownPull(app, given, open);
  if (number === undefined) return false;
  const answer = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', {
    ...name,
    pull_number: number,
  });
  const { head, base, html_url: url } = answer.data;
  if (head.repo?.id !== base.repo.id) return false;
  const branches = { headBranch: head.ref, baseBranch: base.ref, headSha: head.sha, headSince: answeredAt(answer) };
  // What was found out about the commit is gone with its task.
  const unreadySha = (await needsEvidence(octokit, name)) ? head.sha : null;
  await app.db.transaction(async (em) => {
    const taskId = await createForIssueIn(app, em, given, 'ready', agent);
    await setTaskFields(em, taskId, { branchName: head.ref });
    const repositoryId = given.repository.id;
    await upsertPull(em, {
      taskId,
      repositoryId,
      number,
      url,
      status: pullStatus(answer.data),
      unreadySha,
      ...branches,
    });
    await tryMoveTask(app, em, taskId, 'reopen');
    await queueMirror(app, em, taskId);
    await given.remember(em);
  });
  return true;
}
