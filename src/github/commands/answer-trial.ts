import type { App } from '../../app.ts';
import type { EnvironmentTrialRow } from '../../db/tables/environment.ts';
import { fenced, oneLine } from '../../domain/text/sanitize.ts';
import { findTrial } from '../../environment/trial/store.ts';
import { findPull } from '../follow/pull-store.ts';
import { placeOfRepository } from '../place.ts';
import { postNotice } from './post-notice.ts';

/** Characters shown of the output of a command that failed. */
const outputChars = 3000;

/** Handles the `trialAnswer` job: tells the issue that asked for a trial how it ended. */
export async function answerTrial(app: App, trialId: string): Promise<void> {
  const trial = await findTrial(app.db.manager, trialId);
  if (trial === null || trial.issueNumber === null || trial.status === 'running') return;
  const place = await placeOfRepository(app, trial.repositoryId);
  if (place === undefined) return;
  const { isPrivate } = place.repository;
  const number = trial.issueNumber;
  const isPull = (await findPull(app.db.manager, trial.repositoryId, number)) !== null;
  await postNotice(app, place, { number, isPull }, trialText(trial, isPrivate));
}

/** Says how a trial ended. What commands wrote is shown only where nobody else can read it. */
export function trialText({ status, problem, commands }: EnvironmentTrialRow, isPrivate: boolean): string {
  const verdict = status === 'ready' ? '✅ Set-up and checks succeeded' : '❌ Set-up or checks failed';
  const lines = commands.map(({ command, exitCode, seconds }) => {
    const how = exitCode === null ? 'stopped' : `exit code ${exitCode}`;
    return `\`${oneLine(command, 100).replaceAll('`', "'")}\`: ${how}, ${seconds} s`;
  });
  const why = isPrivate ? (problem ?? '') : problem === null ? '' : (problem.split('\n', 1)[0] ?? '');
  const failing = commands.find(({ exitCode }) => exitCode !== 0);
  const output = isPrivate && failing !== undefined ? failing.output.slice(-outputChars).trim() : '';
  const nothing = commands.length === 0 && problem === null ? 'There is nothing to set up or check.' : '';
  return [`${verdict}.`, why, nothing, ...lines, output === '' ? '' : fenced(output)]
    .filter((text) => text !== '')
    .join('\n');
}
