import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { violatedUnique } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import { type EnvironmentTrialRow, EnvironmentTrials } from '../db/tables/environment.ts';
import { Refused } from '../domain/machine.ts';
import { notFound } from '../errors.ts';
import { type Route, route, Timestamp } from '../http/route.ts';
import { onRepository } from '../repositories/routes.ts';
import { imageWith } from './detect.ts';

const status = z.enum(['running', 'ready', 'failed']);

const StartedTrial = z.object({ id: z.string(), status }).meta({ id: 'StartedEnvironmentTrial' });

const Command = z.object({
  command: z.string(),
  exitCode: z.int().nullable().meta({ description: 'null while the command runs, and when it was stopped' }),
  seconds: z.number(),
  output: z.string(),
});

const Trial = z
  .object({
    id: z.string(),
    status,
    startedAt: Timestamp,
    beganAt: Timestamp.nullable().meta({ description: 'when a worker began; null while the trial waits for one' }),
    finishedAt: Timestamp.nullable(),
    image: z.string().nullable().meta({ description: "null for the worker's own system" }),
    problem: z.string().nullable().meta({
      description:
        'why the trial failed, unless the result of a command shows it; where it is ready, what its set-up may lack',
    }),
    commands: z.array(Command),
    setupCommands: z
      .int()
      .min(0)
      .meta({ description: 'how many of the commands, from the first, are set-up; the others are checks' }),
    tried: z.array(Command).meta({
      description: 'usual checks, tried because .deckhand.yml lists none; their results do not decide about the trial',
    }),
    refusedHosts: z.array(z.object({ host: z.string(), times: z.int() })),
    missing: z.array(z.object({ program: z.string(), command: z.string(), image: z.string().nullable() })).meta({
      description: 'programs that are not installed, the commands that need them, and an image that has them',
    }),
    unknown: z.array(z.string()).meta({
      description:
        'files that name packages which set-up does not install: Deckhand knows no command for them, or they are in folders, which do not count where the root has a lock file',
    }),
    unchecked: z.array(z.string()).meta({
      description: 'folders that are projects of their own, and in which no usual check was found to try',
    }),
    checkout: z.array(z.enum(['submodules', 'lfs'])).meta({
      description: 'what the repository has that runs get only with this key of `checkout` in .deckhand.yml',
    }),
    draft: z.string().nullable().meta({
      description:
        'the whole .deckhand.yml with what the trial found, and comments for what people should decide; null while it runs, and when there is nothing to add',
    }),
    services: z.array(z.object({ run: z.string(), port: z.int() })).meta({
      description:
        'services to which commands could not connect, or that the compose file names while a command fails, as `services` of .deckhand.yml may list them',
    }),
  })
  .meta({ id: 'EnvironmentTrial' });

async function insertTrial(
  em: EntityManager,
  row: Pick<EnvironmentTrialRow, 'id' | 'repositoryId' | 'issueNumber'>,
): Promise<void> {
  await em.insert(EnvironmentTrials, { ...row, status: 'running', commands: [], refusedHosts: [] });
}

export function findEnvironmentTrial(em: EntityManager, id: string): Promise<EnvironmentTrialRow | null> {
  return em.findOneBy(EnvironmentTrials, { id });
}

/** Returns the last trial of a repository. */
export function findLastEnvironmentTrial(em: EntityManager, repositoryId: string): Promise<EnvironmentTrialRow | null> {
  return em.findOne(EnvironmentTrials, { where: { repositoryId }, order: { startedAt: 'DESC', id: 'DESC' } });
}

/** Stores the progress of a running trial. Returns false if the trial is no longer running. */
export async function updateEnvironmentTrial(
  em: EntityManager,
  id: string,
  change: Partial<Omit<EnvironmentTrialRow, 'id' | 'repositoryId'>>,
): Promise<boolean> {
  const { affected } = await em.update(
    EnvironmentTrials,
    { id, status: 'running' },
    { ...change, seenAt: () => 'now()' },
  );
  return affected === 1;
}

/** Ends running trials whose workers have not reported for so many seconds. */
async function failLostTrials(em: EntityManager, seconds: number, problem: string): Promise<void> {
  await em.query(
    `update environment_trials set status = 'failed', finished_at = now(), problem = $2
     where status = 'running' and seen_at < now() - make_interval(secs => $1)`,
    [seconds, problem],
  );
}

/** Deletes all trials of a repository but its last ones. */
async function deleteOldTrials(em: EntityManager, repositoryId: string, kept: number): Promise<void> {
  await em.query(
    `delete from environment_trials where repository_id = $1 and status <> 'running' and id not in (
       select id from environment_trials where repository_id = $1 order by started_at desc, id desc limit $2)`,
    [repositoryId, kept],
  );
}

/** A trial whose worker has not reported for this long counts as lost. The time limit of a trial is shorter. */
const lostSeconds = 3600;
const lostText = 'the worker of this trial was lost; start another one';

/** Trials that are kept for each repository. */
const keptTrials = 10;

/** Who asked for a trial. */
export interface EnvironmentTrialRequest {
  repositoryId: string;
  /** On whose behalf private submodules are fetched. */
  userId: string;
  /** The issue or pull request that gets the result. */
  issueNumber?: number | undefined;
  /** Runs in the transaction that starts the trial. */
  also?: ((em: EntityManager) => Promise<void>) | undefined;
}

/**
 * Starts a trial of set-up and checks on the default branch, without an agent. A job runs it.
 * @throws Refused while one runs
 */
export async function startEnvironmentTrial(
  app: App,
  { repositoryId, userId, issueNumber, also }: EnvironmentTrialRequest,
): Promise<Pick<EnvironmentTrialRow, 'id' | 'status'>> {
  const id = newId('trial');
  try {
    return await app.db.transaction(async (em) => {
      await failLostTrials(em, lostSeconds, lostText);
      await deleteOldTrials(em, repositoryId, keptTrials - 1);
      await insertTrial(em, { id, repositoryId, issueNumber: issueNumber ?? null });
      await also?.(em);
      await app.queue.send(em, 'trial', { trialId: id, startedBy: userId });
      return { id, status: 'running' as const };
    });
  } catch (error) {
    if (violatedUnique(error) !== 'environment_trials_running') throw error;
    throw new Refused('A trial of this repository is running. Wait until it has ended.');
  }
}

/** Returns the last trial of a repository. @throws AppError 404 before the first */
async function getTrial(app: App, repositoryId: string): Promise<z.input<typeof Trial>> {
  const trial = await findLastEnvironmentTrial(app.db.manager, repositoryId);
  if (trial === null) throw notFound('Trial of the environment of repository', repositoryId);
  const { found, ...shown } = trial;
  const commands = trial.commands.filter(({ isTried }) => !isTried);
  return {
    ...shown,
    ...found,
    commands,
    setupCommands: commands.filter(({ isCheck }) => !isCheck).length,
    tried: trial.commands.filter(({ isTried }) => isTried),
    missing: trial.missing.map((each) => ({ ...each, image: imageWith(each.program) })),
  };
}

const path = '/repositories/:id/environment';
const tag = 'repositories';

export const environmentTrialRoutes: Route[] = [
  route({
    operationId: 'startEnvironmentTrial',
    method: 'post',
    path,
    summary: 'Try set-up and checks on the default branch, without an agent',
    tag,
    access: onRepository('member'),
    audit: { action: 'repository.try_environment', object: ({ repository }) => repository },
    reply: [202, StartedTrial],
    errors: { 409: 'A trial of this repository is running' },
    costs: 'start',
    handle: (app, { repository, user }) => startEnvironmentTrial(app, { repositoryId: repository.id, userId: user.id }),
  }),
  route({
    operationId: 'getEnvironmentTrial',
    method: 'get',
    path,
    summary: 'Get the last trial of the environment of a repository',
    tag,
    access: onRepository('viewer'),
    reply: [200, Trial],
    handle: (app, { repository }) => getTrial(app, repository.id),
  }),
];
