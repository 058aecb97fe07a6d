import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type RunningService, startService } from '../../../demo/real-service.ts';
import { startEmbedded } from '../../../src/db/embedded/embedded.ts';
import { settingsWithoutApp } from '../../settings.ts';
import { type EvalGitHub, startGitHub } from './github.ts';

/** Everything that runs during an evaluation. */
export interface Stage {
  service: RunningService;
  token: string;
  github: EvalGitHub;
  /** A folder for results while they are judged. */
  scratch: string;
  close(): Promise<void>;
}

/** Starts the real service with its own database, and a GitHub for it. All files are in `folder`. */
export async function openStage(
  folder: string,
  given: { slots: number; modelUrl: string; modelKey: string; model: string; extra: Record<string, string> },
): Promise<Stage> {
  await endLeftService(folder);
  const scratch = join(folder, 'scratch');
  for (const dir of [scratch, join(folder, 'repositories'), join(folder, 'service')]) {
    await rm(dir, { recursive: true, force: true });
    await mkdir(dir, { recursive: true });
  }
  const postgres = await startEmbedded({ dataDir: join(folder, 'database') });
  const github = await startGitHub(join(folder, 'repositories'));
  const service = await startService({
    ...(await settingsWithoutApp({
      databaseUrl: await freshDatabase(postgres.url),
      dataDir: join(folder, 'service'),
      hostUrl: github.url,
      modelUrl: given.modelUrl,
    })),
    OPENAI_API_KEY: given.modelKey,
    OPENAI_MODEL: given.model,
    MAX_CONCURRENT_RUNS: String(given.slots),
    MAX_PROJECT_DAY_COST_USD: '100000',
    MAX_PERSON_DAY_COST_USD: '100000',
    LOG_LEVEL: 'warn',
    ...given.extra,
  });
  const token = await service.token('evaluation');
  const close = async () => {
    await service.stop();
    github.close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { service, token, github, scratch, close };
}

/** Ends the service of an evaluation that was killed. The database's own start does the same for the database. */
async function endLeftService(folder: string): Promise<void> {
  const left = async () => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const environments = pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => ''));
    const isOurs = (await Promise.all(environments)).map((text) => text.includes(`\0DATA_DIR=${folder}/`));
    return pids.filter((_, i) => isOurs[i]).map(Number);
  };
  for (let tries = 0; tries < 100; tries++) {
    const pids = await left();
    if (pids.length === 0) return;
    for (const pid of pids) endProcess(pid, tries === 0 ? 'SIGTERM' : tries > 50 ? 'SIGKILL' : 0);
    await sleep(100);
  }
}

function endProcess(pid: number, signal: NodeJS.Signals | 0): void {
  try {
    process.kill(pid, signal);
  } catch {} // It has ended.
}

/** Creates a database, because that of an interrupted evaluation still has its runs. */
async function freshDatabase(url: string): Promise<string> {
  const name = `evaluation_${Date.now()}`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const fresh = new URL(url);
  fresh.pathname = `/${name}`;
  return fresh.href;
}
