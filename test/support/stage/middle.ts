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

interface Failing {
  at: Point;
  fault: Fault;
}

/** Plays once. A person who is told that a command was refused writes it again. */
async function playOnce(stage: Stage, play: Play, failing?: Failing): Promise<Played> {
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
    found.push(...left.filter((line) => !isOfRepeated(line)).map((line) => `+ ${line}`));
  }
  return found;
}

const isRead = ({ name }: Point) => /^(GET|GIT) /.test(name);
const nameOf = ({ name, nth }: Point) => `${name}, number ${nth + 1}`;

/** GitHub does not do what was asked, or does it and its reply is lost. */
function faultsOf(point: Point, position: number): Fault[] {
  const both: Fault[] = [{ status: 502 }, 'lost'];
  // For reads the two differ in the error only.
  return isRead(point) ? both.slice(position % 2, (position % 2) + 1) : both;
}

/** How often a call is tried that the others of a play overtake now and then, because they have no fixed order. */
const mostTries = 4;

/**
 * Plays twice without a fault, then with each call failing once that both made. Returns in which of these cases people see
 * something else in the end. The second play shows that the comparison is about the fault, not about the play.
 */
export async function failEach(open: () => Promise<Stage>, play: Play): Promise<string[]> {
  const wanted = await playOnce(await open(), play);
  const again = await playOnce(await open(), play);
  const common = pointsOf(wanted, again);
  const unmade = wanted.points.filter((point) => !isRead(point) && !common.includes(point)).map(nameOf);
  const unlike = [...wanted.thrown, ...again.thrown, ...differences(wanted.shown, again), ...unmade];
  const problems = unlike.length > 0 ? [['without a fault', ...unlike].join('\n')] : [];
  for (const [position, at] of common.entries())
    for (const fault of faultsOf(at, position)) {
      const played = await playUntilMade(open, play, { at, fault });
      const found = [...differences(wanted.shown, played), ...played.thrown];
      if (!played.hasFailed) found.push('the call was not made');
      const how = fault === 'lost' ? 'the reply is lost' : '502';
      if (found.length > 0) problems.push([`${how}: ${nameOf(at)}`, ...found].join('\n'));
    }
  return problems;
}

async function playUntilMade(open: () => Promise<Stage>, play: Play, failing: Failing): Promise<Played> {
  for (let tries = 1; ; tries++) {
    const played = await playOnce(await open(), play, failing);
    if (played.hasFailed || tries === mostTries) return played;
  }
}

/** Returns the calls that two plays have in common. How often a play reads the same thing depends on what else goes on. */
function pointsOf(wanted: Played, again: Played): Point[] {
  return wanted.points.filter(({ name, nth }) => again.points.some((each) => each.name === name && each.nth === nth));
}

interface Numbered {
  number: number;
}

/** Removes what earlier plays left, so that what concerns the whole project concerns this play only. */
async function clear({ sql, service, github, project, settle, loseEvents }: Stage): Promise<void> {
  const mona = github.as('mona');
  const repo = '/repos/mona/sample';
  for (const { number } of await mona<Numbered[]>('GET', `${repo}/issues?state=open&per_page=100`))
    await mona('PATCH', `${repo}/issues/${number}`, { state: 'closed' });
  await loseEvents();
  for (const table of ['tasks', 'sprints', 'wizard_sessions', 'leftovers', 'environment_trials'])
    await sql(`delete from ${table}`);
  await sql('update repositories set is_docs_repo = false where is_docs_repo');
  await sql('delete from pgboss.job');
  // A process asks once whether GitHub signs commits.
  service.app.github?.signing.clear();
  // Closes the milestones of deleted sprints.
  await service.app.queue.send(undefined, 'milestones', { projectId: project }, { key: project });
  await settle();
  // A sprint with the name of an earlier one would get a milestone with another title.
  for (const { number } of await mona<Numbered[]>('GET', `${repo}/milestones?state=all&per_page=100`))
    await mona('DELETE', `${repo}/milestones/${number}`);
  await loseEvents();
}
