import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { until } from '../../demo/real-service.ts';
import { say } from '../figures.ts';
import { type Change, changesOf } from './changes.ts';
import type { Sample } from './sample.ts';
import { javascript } from './samples/javascript.ts';
import { others } from './samples/others.ts';
import { openStage, type Stage } from './stage.ts';

/** The repositories of the corpus. */
export const samples = [...javascript, ...others];

/** A repository on the stage. */
interface Staged {
  sample: Sample;
  projectId: string;
  repositoryId: string;
  agentId: string;
}

/** What the API shows of a trial and its commands. */
interface Trial {
  status: string;
  problem: string | null;
  commands: Command[];
  setupCommands: number;
  tried: Command[];
  missing: { command: string }[];
  services: { port: number }[];
  checkout: string[];
  draft: string | null;
}

interface Command {
  command: string;
  exitCode: number | null;
}

/** How far a repository came. */
interface Outcome {
  /** Undefined when all was found as it should be. */
  problem: string | undefined;
  /** What came of the drafts. */
  draft: string;
  proofs: { all: number; wrong: string[]; falselyProved: number };
}

/**
 * Sets up repositories of many kinds, as far as their programs are installed, and makes changes in them whose truth is known.
 * Prints what was detected, drafted, checked and proved, and what should have been. `only` is a part of a name.
 */
export async function corpus(only = ''): Promise<void> {
  const chosen = samples.filter(({ name }) => name.includes(only));
  const stage = await openStage();
  const outcomes: Outcome[] = [];
  say(`${'repository'.padEnd(24)}${'detected'.padEnd(10)}${'draft'.padEnd(42)}changes`);
  try {
    for (const sample of chosen) {
      const outcome = await play(stage, sample);
      outcomes.push(outcome);
      const { problem, draft, proofs } = outcome;
      const row = [sample.name.padEnd(24), (problem === undefined ? 'right' : 'WRONG').padEnd(10), draft.padEnd(42)];
      say(`${row.join('')}${proofs.all === 0 ? '' : `${proofs.all - proofs.wrong.length} of ${proofs.all} right`}`);
      for (const each of [problem ?? [], proofs.wrong].flat()) say(`    ${each}`);
    }
  } finally {
    await stage.close();
  }
  const count = (begin: string) => outcomes.filter(({ draft }) => draft.startsWith(begin)).length;
  const sum = (of: (proofs: Outcome['proofs']) => number) => outcomes.reduce((all, { proofs }) => all + of(proofs), 0);
  const all = sum((proofs) => proofs.all);
  say(`detected           ${outcomes.filter(({ problem }) => problem === undefined).length} of ${chosen.length} right`);
  say(
    `drafts that work   ${count(works)}, with a hint ${count(hinted)}, wrong ${count(wrong)}, not tried ${count(notTried)}`,
  );
  say(
    `changes            ${all - sum((proofs) => proofs.wrong.length)} of ${all} said rightly, ${sum(({ falselyProved }) => falselyProved)} falsely proved`,
  );
}

const works = 'works';
const hinted = 'hint';
const wrong = 'WRONG';
const notTried = 'not tried';

async function play(stage: Stage, sample: Sample): Promise<Outcome> {
  const staged = await connect(stage, sample);
  const lacking = sample.needs.filter((program) => !isInstalled(program));
  const trial = await tryOut(stage, staged);
  const problem = detectionProblem(sample, trial, lacking);
  const draft = lacking.length > 0 ? `${notTried}: no ${lacking.join(', ')}` : await followDrafts(stage, staged, trial);
  const isReady = draft === works || draft === withHint;
  return {
    problem,
    draft,
    proofs: isReady ? await proveChanges(stage, staged) : { all: 0, wrong: [], falselyProved: 0 },
  };
}

/** Returns whether a sandbox has a program. */
export function isInstalled(program: string): boolean {
  return ['/usr/local/bin', '/usr/bin'].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

async function connect(stage: Stage, sample: Sample): Promise<Staged> {
  const call = caller(stage);
  const url = await stage.add(sample);
  const { id: projectId } = await call<{ id: string }>('POST', '/projects', { name: sample.name });
  await call('POST', `/projects/${projectId}/git-token`, { token: 'any' });
  const { id } = await call<{ id: string }>('POST', '/repositories', { projectId, name: sample.name, url });
  const [agent] = await call<{ id: string }[]>('GET', `/agents?projectId=${projectId}`);
  return { sample, projectId, repositoryId: id, agentId: agent?.id ?? '' };
}

function caller({ service, token }: Stage) {
  return <T>(method: string, path: string, body?: object) => service.api<T>(token, method, path, body);
}

async function tryOut(stage: Stage, { repositoryId }: Staged): Promise<Trial> {
  const call = caller(stage);
  const path = `/repositories/${repositoryId}/environment`;
  await call('POST', path);
  return until('the end of the trial', async () => {
    const trial = await call<Trial>('GET', path);
    return trial.status !== 'running' && trial;
  });
}

/** Says what a trial did not find as it should. Where a program is missing, it should say so. */
function detectionProblem({ expected }: Sample, trial: Trial, lacking: string[]): string | undefined {
  const { commands, setupCommands, missing, tried, services, checkout } = trial;
  const setup = commands.slice(0, setupCommands).map(({ command }) => command);
  const found = [...setup, ...missing.map(({ command }) => command)];
  if (!isDeepStrictEqual(found, expected.setup))
    return `set-up ${JSON.stringify(found)}, not ${JSON.stringify(expected.setup)}`;
  if (expected.checkout !== undefined && !checkout.includes(expected.checkout as 'lfs'))
    return `nothing about ${expected.checkout}`;
  if (lacking.length > 0) return undefined;
  const passed = tried.filter(({ exitCode }) => exitCode === 0).map(({ command }) => command);
  if (!isDeepStrictEqual(passed, expected.checks))
    return `checks ${JSON.stringify(tried)}, not ${JSON.stringify(expected.checks)}`;
  const ports = services.map(({ port }) => port);
  if (!isDeepStrictEqual(ports, expected.services ?? [])) return `services ${ports.join()}`;
  const { hint } = expected;
  return hint === undefined || hint.test(JSON.stringify(trial))
    ? undefined
    : `no hint like ${hint}: ${JSON.stringify(trial)}`;
}

const withHint = `${hinted}: works as its comments say`;

/**
 * Commits what a trial drafts, and tries again, up to twice: the usual checks of a repository may pass only once its files
 * are complete. Then does what the comments of the draft say.
 */
async function followDrafts(stage: Stage, staged: Staged, first: Trial): Promise<string> {
  let trial = first;
  let text = '';
  for (let i = 0; i < 2; i++) {
    if (trial.draft === null || trial.draft === text) break;
    text = trial.draft;
    await stage.commit(staged.sample, { '.deckhand.yml': text });
    trial = await tryOut(stage, staged);
    if (isDone(trial)) return works;
  }
  const { setup, hint } = staged.sample.expected;
  if (setup.length === 0 && hint === undefined && trial.status === 'ready') return works;
  if (!/^# services:/m.test(text))
    return hint === undefined
      ? `${wrong}: ${trial.problem ?? JSON.stringify(trial.commands.concat(trial.tried).filter(({ exitCode }) => exitCode !== 0))}`
      : `${hinted}: the failure says it`;
  const uncommented = text.replace(/^# (services:| {2}- )/gm, '$1');
  await stage.commit(staged.sample, { '.deckhand.yml': `${uncommented}checks: [npm test]\n` });
  return isDone(await tryOut(stage, staged)) ? withHint : `${wrong}: its comments do not help`;
}

/** Returns whether a trial was ready with checks that .deckhand.yml lists. */
const isDone = ({ status, commands, setupCommands }: Trial) => status === 'ready' && commands.length > setupCommands;

async function proveChanges(stage: Stage, staged: Staged): Promise<Outcome['proofs']> {
  const { language, name } = staged.sample;
  const proofs: Outcome['proofs'] = { all: 0, wrong: [], falselyProved: 0 };
  for (const change of language === undefined ? [] : changesOf(language)) {
    const { status, reason } = await proofOf(stage, staged, change, `${name}: ${change.name}`);
    proofs.all += 1;
    if (status === change.truth) continue;
    if (status === 'proved') proofs.falselyProved += 1;
    proofs.wrong.push(`${change.name}: ${status} (${reason}), not ${change.truth}`);
  }
  return proofs;
}

async function proofOf(stage: Stage, { projectId, agentId }: Staged, change: Change, title: string) {
  const call = caller(stage);
  stage.play(title, change);
  const task = await call<{ id: string }>('POST', `/projects/${projectId}/tasks`, { title, owner: agentId });
  await call('POST', `/tasks/${task.id}/start`);
  const run = await until('the run', async () => {
    const [run] = await call<{ status: string; failure: object | null }[]>('GET', `/tasks/${task.id}/runs`);
    return (run?.status === 'failed' || run?.status === 'succeeded') && run;
  });
  if (run.failure !== null) return { status: 'the run failed', reason: JSON.stringify(run.failure) };
  return call<{ status: string; reason: string | null }>('GET', `/tasks/${task.id}/proof`);
}
