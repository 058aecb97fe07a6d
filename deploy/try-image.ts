import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DemoGitHub, startGitHub } from '../demo/github/github.ts';
import { startModel } from '../demo/model/model.ts';
import { issue, script } from '../demo/model/story.ts';
import { until } from '../demo/real-service.ts';
import { demoSettings, freePort } from '../demo/settings.ts';
import { startEmbedded } from '../src/db/embedded/embedded.ts';
import { type ComposeService, docker, flagsOf, hasImage, readCompose, root, works } from './engine.ts';

/**
 * `npm run image` builds the image and takes one task through it to `in_review`. Web, worker and PostgreSQL run in
 * containers with the limits of compose.yaml; the demo's GitHub and model run on the host. All of them use the host's
 * network on loopback, so no bridge is needed. It exits with 1 if anything is wrong. With `--if-possible` it exits with
 * 0 and gives the reason when there is no engine or no base image.
 */
const image = 'deckhand:try';
const names = { web: `deckhand-try-web-${process.pid}`, worker: `deckhand-try-worker-${process.pid}` };
const postgresName = `deckhand-try-postgres-${process.pid}`;
const patienceMs = 180_000;

const began = performance.now();
const say = (text: string) =>
  process.stdout.write(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}\n`);

const ends: (() => Promise<unknown>)[] = [];
async function end(): Promise<void> {
  for (const close of ends.splice(0).reverse())
    await close().catch((error) => say(`could not clean up: ${error.message}`));
}

/** The image cannot be tried here, because a container engine or the base image is missing. See `--if-possible`. */
class NotPossible extends Error {}

/** Returns the base image of the Dockerfile. If it is not available, returns the tag that it is a version of. */
async function baseImage(): Promise<string> {
  const pinned = /^ARG NODE_IMAGE=(\S+)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[1] ?? '';
  if (!(await works('version'))) throw new NotPossible('no Docker engine answers');
  if (await hasImage(pinned)) return pinned;
  const tag = 'node:24-slim';
  if (!(await hasImage(tag))) throw new NotPossible(`neither ${pinned} nor ${tag} exists here or can be pulled`);
  say(`${pinned} cannot be pulled; using ${tag} instead`);
  return tag;
}

/**
 * Starts PostgreSQL in a container as in compose.yaml. If its image is not available, starts an embedded one on this
 * host.
 */
async function startPostgres(service: ComposeService, except: string[]): Promise<string> {
  if (service.image !== undefined && (await hasImage(service.image))) {
    const port = String(await freePort());
    const password = randomBytes(16).toString('hex');
    const variables = { POSTGRES_USER: 'deckhand', POSTGRES_PASSWORD: password, POSTGRES_DB: 'deckhand' };
    ends.push(() => docker(['rm', '--force', '--volumes', postgresName]));
    await docker(
      [
        ...['run', '--detach', '--network', 'host', '--name', postgresName, ...flagsOf(service, except)],
        ...Object.keys(variables).flatMap((name) => ['--env', name]),
        ...[service.image, '-c', `port=${port}`, '-c', 'listen_addresses=127.0.0.1'],
      ],
      variables,
    );
    await until(
      'PostgreSQL',
      () => works('exec', postgresName, 'pg_isready', '-h', '127.0.0.1', '-p', port),
      patienceMs,
    );
    say(`PostgreSQL runs in a container (${service.image.split('@')[0]})`);
    return `postgres://deckhand:${password}@127.0.0.1:${port}/deckhand`;
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-try-'));
  await chmod(dataDir, 0o755);
  ends.push(() => rm(dataDir, { recursive: true, force: true }));
  const embedded = await startEmbedded({ dataDir });
  ends.push(embedded.stop);
  say(
    'not tried: the PostgreSQL container, because its image cannot be pulled; the embedded one runs on this host instead',
  );
  return embedded.url;
}

type Role = keyof typeof names;

async function startRole(role: Role, service: ComposeService, except: string[], settings: Record<string, string>) {
  const { DATABASE_URL: _, ...own } = service.environment as Record<string, string>;
  const variables = { ...settings, ...own };
  ends.push(() => docker(['rm', '--force', '--volumes', names[role]]));
  const variableFlags = Object.keys(variables).flatMap((name) => ['--env', name]);
  const run = ['run', '--detach', '--network', 'host', '--name', names[role]];
  await docker([...run, ...flagsOf(service, except), ...variableFlags, image], variables);
}

const inside = (role: Role, ...command: string[]) => docker(['exec', names[role], ...command]);

async function becomesHealthy(role: Role): Promise<void> {
  const look = ['inspect', '--format', '{{.State.Status}} {{.State.Health.Status}}', names[role]];
  await until(
    `the ${role} container to be healthy`,
    async () => {
      const state = await docker(look);
      if (!state.startsWith('running')) throw new Error(`${role} is ${state}: ${await docker(['logs', names[role]])}`);
      return state.endsWith(' healthy');
    },
    patienceMs,
  ).catch(async (error) => {
    throw new Error(`${error.message}\n${await docker(['logs', '--tail', '20', names[role]])}`);
  });
  const uid = await inside(role, 'id', '-u');
  if (uid === '0') throw new Error(`${role} runs as root`);
  for (const path of ['/app/x', '/etc/x', '/x'])
    if (await works('exec', names[role], 'touch', path)) throw new Error(`${role} can write ${path}`);
  say(`${role} is healthy, runs as uid ${uid}, and cannot write to its image`);
}

/** Suspends the worker and expects its health check to fail. A health check that never fails would be worthless. */
async function failsWhenSuspended(): Promise<void> {
  const signal = (name: string) => inside('worker', 'sh', '-c', `kill -${name} $(cat /proc/1/task/1/children)`);
  await signal('STOP');
  const isWell = () => works('exec', names.worker, 'node', 'src/healthy.ts');
  await until('the health check of a worker that hangs to fail', async () => !(await isWell()), patienceMs);
  await signal('CONT');
  await until('the health check of the worker to succeed again', isWell, patienceMs);
  say('the health check of the worker fails while it hangs, and succeeds afterwards');
}

/** Takes a task from the comment to the pull request, and checks that its commands ran in the sandbox. */
async function playTask(url: string, github: DemoGitHub): Promise<void> {
  const token = await inside('web', 'node', 'src/main.ts', 'token', '--login', 'mona');
  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${url}/api/v1${path}`, { headers: { Authorization: `Bearer ${token}` } });
    if (!response.ok) throw new Error(`GET ${path} was answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const projectOf = async () => (await get<{ id: string }[]>('/projects'))[0];
  const project = await until('the project', projectOf, patienceMs);
  const mona = github.as('mona');
  const { number } = await mona<{ number: number }>('POST', '/repos/mona/sample/issues', issue);
  await mona('POST', `/repos/mona/sample/issues/${number}/comments`, { body: '/agent start' });
  interface Shown {
    id: string;
    status: string;
    prUrl: string | null;
    failure: { message: string } | null;
  }
  const task = await until(
    'the task to be in review',
    async () => {
      const [found] = await get<Shown[]>(`/projects/${project.id}/tasks`);
      if (found?.failure) throw new Error(`the task failed: ${found.failure.message}`);
      return found?.status === 'in_review' && found;
    },
    patienceMs,
  );
  const [run] = await get<{ id: string }[]>(`/tasks/${task.id}/runs`);
  const events = await get<{ text: string }[]>(`/runs/${run?.id}/events`);
  if (!events.some(({ text }) => text.includes('run_command')))
    throw new Error(`no command ran in the sandbox:\n${events.map((e) => e.text).join('\n')}`);
  say(`the task is in review: ${task.prUrl}`);
}

/** Checks that on `docker stop` a container exits in time with 0, and that none of its processes ran out of memory. */
async function stopsWell(role: Role): Promise<void> {
  await docker(['stop', '--time', '40', names[role]]);
  const state = await docker(['inspect', '--format', '{{.State.ExitCode}} {{.State.OOMKilled}}', names[role]]);
  if (state !== '0 false') throw new Error(`${role} ended with ${state}: ${await docker(['logs', names[role]])}`);
  say(`${role} stopped with exit code 0`);
}

async function tryImage(): Promise<void> {
  const base = await baseImage();
  say(`building ${image} on ${base}`);
  await docker(['build', '--network', 'host', '--build-arg', `NODE_IMAGE=${base}`, '--tag', image, '.']);
  say('the image is built');
  const services = readCompose();
  const except: string[] = [];
  const score = String(services.web.oom_score_adj);
  if (!(await works('run', '--rm', '--network', 'host', '--oom-score-adj', score, image, 'true'))) {
    except.push('oom_score_adj');
    say('not tried: oom_score_adj, because this engine may not lower it');
  }
  const github = await startGitHub({ owner: 'mona', repository: 'sample', people: ['hubot'] });
  ends.push(github.close);
  const model = await startModel(script);
  ends.push(model.close);
  const settings: Record<string, string> = {
    ...demoSettings({ github, model, port: await freePort(), dataDir: '/data' }),
    HOST: '127.0.0.1',
    DATABASE_URL: await startPostgres(services.postgres, except),
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  };
  const url = settings.BASE_URL ?? '';
  await startRole('web', services.web, except, settings);
  await becomesHealthy('web');
  github.deliverTo(`${url}/api/github/webhooks`);
  // With SANDBOX=bwrap the worker refuses to start without its sandbox.
  await startRole('worker', services.worker, except, { ...settings, SANDBOX: 'bwrap' });
  await becomesHealthy('worker');
  say('doctor, in the worker:');
  process.stdout.write(`${(await inside('worker', 'node', 'src/main.ts', 'doctor')).replace(/^/gm, '          ')}\n`);
  await playTask(url, github);
  await failsWhenSuspended();
  await stopsWell('worker');
  await stopsWell('web');
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    await end();
    process.exit(130);
  });

try {
  await tryImage();
  say('everything works');
} catch (error) {
  const isExcused = error instanceof NotPossible && process.argv.includes('--if-possible');
  say(isExcused ? `not tried: the image, because ${error.message}` : `failed: ${(error as Error).message}`);
  process.exitCode = isExcused ? 0 : 1;
} finally {
  await end();
}
