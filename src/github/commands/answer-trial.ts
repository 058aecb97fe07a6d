import type { App } from '../../app.ts';
import type { EnvironmentTrialRow } from '../../db/tables/environment.ts';
import { environmentPage } from '../../domain/task-page.ts';
import { fenced, oneLine } from '../../domain/text/sanitize.ts';
import { hasSecrets } from '../../environment/secrets/store.ts';
import { findTrial } from '../../environment/trial/store.ts';
import { findPull } from '../follow/pull-store.ts';
import { placeOfRepository } from '../place.ts';
import { postNotice } from './post-notice.ts';

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
  const trial = await findTrial(app.db.manager, trialId);
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
export function trialText({ status, problem, commands }: EnvironmentTrialRow, isOutputShown: boolean): string {
  const verdict = status === 'ready' ? '✅ Set-up and checks succeeded' : '❌ Set-up or checks failed';
  const lines = commands.map(({ command, exitCode, seconds }) => {
    const how = exitCode === null ? 'stopped' : `exit code ${exitCode}`;
    return `\`${oneLine(command, 100).replaceAll('`', "'")}\`: ${how}, ${seconds} s`;
  });
  const why = isOutputShown ? (problem ?? '') : problem === null ? '' : (problem.split('\n', 1)[0] ?? '');
  const failing = commands.find(({ exitCode }) => exitCode !== 0);
  const output = isOutputShown && failing !== undefined ? failing.output.slice(-outputChars).trim() : '';
  const nothing = commands.length === 0 && problem === null ? 'There is nothing to set up or check.' : '';
  return [`${verdict}.`, why, nothing, ...lines, output === '' ? '' : fenced(output)]
    .filter((text) => text !== '')
    .join('\n');
}
