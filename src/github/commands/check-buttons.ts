import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { AppError } from '../../errors.ts';
import { type GitHubUser, upsertUser } from '../../projects/store.ts';
import { asWriter } from '../../repositories/permission.ts';
import { cancelTask, startTask } from '../../runs/operations.ts';
import { recheckTask } from '../../tasks/move.ts';
import type { Place } from '../app/place.ts';
import { assertMayDirect } from '../given-command.ts';
import { findTaskOfCheck, setNotice } from '../store.ts';

/** Handles the buttons Retry and Cancel of our check run. Only people with write permission can use them. */
export async function takeButton(
  app: App,
  { octokit, name, repository }: Place,
  about: { checkRunId: number; button: string; sender: GitHubUser },
): Promise<void> {
  const shown = await findTaskOfCheck(app.db.manager, repository.id, about.checkRunId);
  if (shown === undefined || about.sender.type === 'Bot') return;
  const writer = await asWriter(octokit, name, about.sender);
  if (writer === undefined) return;
  const { taskId, number } = shown;
  const user = await upsertUser(app.db.manager, writer);
  let said = '';
  try {
    await assertMayDirect(app, user.id, { taskId, repository });
    const { projectId } = repository;
    // A button is a shorthand for a command.
    const act = { userId: user.id, via: 'comment', object: { type: 'task', id: taskId, projectId } } as const;
    if (about.button === 'retry')
      await app.audit.during({ ...act, action: 'task.retry' }, () =>
        startTask(app, { taskId, startedBy: user.id, kind: 'retry' }),
      );
    else if (about.button === 'cancel')
      await app.audit.during({ ...act, action: 'task.cancel' }, () => cancelTask(app, taskId));
  } catch (error) {
    if (!(error instanceof Refused || error instanceof AppError)) throw error;
    said = `😕 ${about.button === 'retry' ? 'Retry' : 'Cancel'} was refused: ${error.message}`;
  }
  await setNotice(app.db.manager, taskId, repository.id, number, said);
  await recheckTask(app, taskId);
}
