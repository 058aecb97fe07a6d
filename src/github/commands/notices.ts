import type { App } from '../../app.ts';
import type { EnvironmentTrialRow } from '../../db/tables/environment.ts';
import { environmentPage } from '../../domain/task.ts';
import { fenced, oneLine } from '../../domain/text/sanitize.ts';
import { findEnvironmentTrial } from '../../environment/trial.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { refusalsIn } from '../../repositories/rights.ts';
import { hasSecrets } from '../../repositories/store.ts';
import { queueMirror } from '../../tasks/move.ts';
import { type Place, placeOfRepository } from '../app/place.ts';
import { deleteReply, reply } from '../comments.ts';
import { taskOfPlace } from '../given-command.ts';
import { findPull, setNotice } from '../store.ts';

/** Shows text in the status comment. Without a status comment, shows it in a reply, which later calls edit. */
export async function postNotice(
  app: App,
  { octokit, name, repository }: Place,
  issue: { number: number; isPull: boolean },
  text: string,
): Promise<void> {
  const taskId = await taskOfPlace(app, repository.id, issue.number, issue.isPull);
  if (taskId !== undefined) {
    await setNotice(app.db.manager, taskId, repository.id, issue.number, text);
    await queueMirror(app, undefined, taskId);
  } else if (text !== '') {
    const shown = (await refusalsIn(app.db.manager, repository))(text);
    await reply(app, octokit, { ...name, issue_number: issue.number }, shown).catch((error) => {
      // The issue was locked or deleted, so no comment can be written.
      if (!isRefusedWith(error, 403, 404, 410)) throw error;
    });
  }
}

/** Deletes the reply to an earlier command on an issue without a task. */
export async function removeReply(app: App, { octokit, name }: Place, { number }: { number: number }): Promise<void> {
  await deleteReply(app, octokit, { ...name, issue_number: number }).catch((error) => {
    // The issue was locked or deleted.
    if (!isRefusedWith(error, 403, 404, 410)) throw error;
  });
}

/** Characters shown of the output of a command that failed. */
const outputChars = 3000;

/**
 * Handles the `trialAnswer` job: tells the issue that asked for a trial how it ended. Jobs of earlier versions do not say
 * whether there were secrets, so for them no output is shown.
 */
export async function answerTrial(
  app: App,
  { trialId, hadSecrets = true }: { trialId: string; hadSecrets?: boolean },
): Promise<void> {
  const trial = await findEnvironmentTrial(app.db.manager, trialId);
  if (trial === null || trial.issueNumber === null || trial.status === 'running') return;
  const place = await placeOfRepository(app, trial.repositoryId);
  if (place === undefined) return;
  const { repository } = place;
  const isOutputShown = repository.isPrivate && !hadSecrets && !(await hasSecrets(app.db.manager, repository));
  const text = trialText(trial, isOutputShown);
  const page = environmentPage(app.config.BASE_URL, repository);
  const number = trial.issueNumber;
  const isPull = (await findPull(app.db.manager, trial.repositoryId, number)) !== null;
  const link = isOutputShown ? '' : `\nThe dashboard shows the output: ${page}`;
  await postNotice(app, place, { number, isPull }, `${text}${link}`);
}

/**
 * Says how a trial ended. What commands wrote is shown in private repositories without environment secrets only: commands
 * can write secrets in a form that nobody recognizes.
 */
export function trialText({ status, problem, commands, found }: EnvironmentTrialRow, isOutputShown: boolean): string {
  const verdict = status === 'ready' ? '✅ Set-up and checks succeeded' : '❌ Set-up or checks failed';
  const lines = commands.map(({ command, exitCode, seconds, isTried }) => {
    const how = exitCode === null ? 'stopped' : `exit code ${exitCode}`;
    const tried = isTried ? ' (not listed in .deckhand.yml)' : '';
    return `\`${oneLine(command, 100).replaceAll('`', "'")}\`: ${how}, ${seconds} s${tried}`;
  });
  const why = isOutputShown ? (problem ?? '') : problem === null ? '' : (problem.split('\n', 1)[0] ?? '');
  const failing = commands.find(({ exitCode, isTried }) => exitCode !== 0 && !isTried);
  const output = isOutputShown && failing !== undefined ? failing.output.slice(-outputChars).trim() : '';
  const { unchecked } = found;
  const folders = unchecked.map((folder) => `\`${oneLine(folder, 100).replaceAll('`', "'")}\``).join(', ');
  const noChecks = unchecked.length === 0 ? '' : `No usual check was found in ${folders}.`;
  const nothing = commands.length === 0 && problem === null ? 'There is nothing to set up or check.' : '';
  return [`${verdict}.`, why, nothing, ...lines, noChecks, output === '' ? '' : fenced(output)]
    .filter((text) => text !== '')
    .join('\n');
}
