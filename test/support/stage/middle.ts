import type { Fault } from '../../../demo/github/front-extras.ts';
import type { Play } from './plays.ts';
import { lookAfter, lookBefore, type Shown } from './snapshot.ts';
import type { Point, Stage } from './stage.ts';

interface Played {
  shown: Shown;
  points: Point[];
  /** What jobs threw in the end. */
  thrown: string[];
  /** Whether a person was told that it was refused, and did it again. */
  isRepeated: boolean;
  /** Whether the call that was to fail was made. */
  hasFailed: boolean;
}

/** Plays once. A person who is told that a command was refused writes it again. */
async function playOnce(stage: Stage, play: Play, failing?: { at: Point; fault: Fault }): Promise<Played> {
  await clear(stage);
  const before = await lookBefore(stage);
  const act = await play(stage);
  await stage.settle();
  stage.begin(failing);
  await act();
  const thrown = await stage.settle();
  const [points, hasFailed] = [stage.points(), stage.hasFailed()];
  let shown = await lookAfter(stage, before);
  const isRepeated = failing !== undefined && shown.onGitHub.some((each) => each.includes('was refused'));
  if (isRepeated) {
    await act();
    thrown.push(...(await stage.settle()));
    shown = await lookAfter(stage, before);
  }
  return { shown, points, thrown, isRepeated, hasFailed };
}

/**
 * Returns what is lost (-) and what is new (+) compared with a play without a fault. A person who repeats a command leaves one
 * more comment, with its reactions.
 */
function differences(wanted: Shown, { shown, isRepeated }: Played): string[] {
  const found: string[] = [];
  for (const part of ['onGitHub', 'stored'] as const) {
    const left = [...shown[part]];
    for (const line of wanted[part]) {
      const at = left.indexOf(line);
      if (at < 0) found.push(`- ${line}`);
      else left.splice(at, 1);
    }
    const isOfRepeated = (line: string) =>
      isRepeated && /"by":"mona","body":"\/agent|"table":"handled_commands"|"reaction":/.test(line);
    // They change nothing, and each attempt to answer them is recorded.
    const isOfReader = (line: string) => /"action":"(issue\.(help|status)|task\.chat)"/.test(line);
    found.push(...left.filter((line) => !isOfRepeated(line) && !isOfReader(line)).map((line) => `+ ${line}`));
  }
  return found;
}

/** GitHub does not do what was asked, or does it and its reply is lost. */
function faultsOf({ name }: Point, position: number): Fault[] {
  const both: Fault[] = [{ status: 502 }, 'lost'];
  // For reads the two differ in the error only.
  return /^(GET|GIT) /.test(name) ? both.slice(position % 2, (position % 2) + 1) : both;
}

/**
 * Plays without a fault, then with each call failing once. Returns in which of these cases people see something else in the
 * end.
 */
export async function failEach(open: () => Promise<Stage>, play: Play): Promise<string[]> {
  const wanted = await playOnce(await open(), play);
  const problems = wanted.thrown.map((text) => `without a fault: ${text}`);
  for (const [position, at] of wanted.points.entries())
    for (const fault of faultsOf(at, position)) {
      const played = await playOnce(await open(), play, { at, fault });
      const found = [...differences(wanted.shown, played), ...played.thrown];
      if (!played.hasFailed) found.push('the call was not made');
      const how = fault === 'lost' ? 'the reply is lost' : '502';
      if (found.length > 0) problems.push([`${how}: ${at.name}, number ${at.nth + 1}`, ...found].join('\n'));
    }
  return problems;
}

/** Removes what earlier plays left, so that what concerns the whole project concerns this play only. */
async function clear({ sql, service, github, project, settle, loseEvents }: Stage): Promise<void> {
  const mona = github.as('mona');
  const issues = '/repos/mona/sample/issues';
  for (const { number } of await mona<{ number: number }[]>('GET', `${issues}?state=open&per_page=100`))
    await mona('PATCH', `${issues}/${number}`, { state: 'closed' });
  await loseEvents();
  for (const table of ['tasks', 'sprints', 'wizard_sessions', 'leftovers', 'environment_trials'])
    await sql(`delete from ${table}`);
  await sql('delete from pgboss.job');
  // Closes the milestones of deleted sprints.
  await service.app.queue.send(undefined, 'milestones', { projectId: project }, { key: project });
  await settle();
}
