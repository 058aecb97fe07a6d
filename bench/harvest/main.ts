import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService, until } from '../../demo/real-service.ts';
import { say } from '../figures.ts';
import { settingsWithoutApp } from '../settings.ts';
import { serve } from '../small-github.ts';
import { kindsOf, type Made, makeHistory } from './history.ts';

interface Benchmark {
  runId: string;
  status: string;
  reason: string | null;
  looked: number;
  usable: number;
  dropped: { reason: string; count: number }[];
  items: { solutionSha: string; state: string; reason: string | null }[];
}

/**
 * Harvests a repository whose history is known. Prints how many of the usable items are truly usable, how many of those that
 * could be found were found, and how long it took.
 */
export async function harvestOfKnown(commits = 300, seed = 7): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'deckhand-harvest-'));
  const { bare, made } = await makeHistory(root, kindsOf(commits, seed), seed);
  const host = await serve(() => bare);
  const dataDir = join(root, 'data');
  await mkdir(dataDir);
  const settings = await settingsWithoutApp({ databaseUrl: '', dataDir, hostUrl: host.url, modelUrl: host.url });
  const { DATABASE_URL: _embedded, ...rest } = settings;
  const service = await startService({ ...rest, GIT_HOSTS: new URL(host.url).origin, ALLOW_PRIVATE_HOSTS: 'true' });
  try {
    const token = await service.token('bench');
    const call = <T>(method: string, path: string, body?: object) => service.api<T>(token, method, path, body);
    const { id: projectId } = await call<{ id: string }>('POST', '/projects', { name: 'harvest' });
    await call('POST', `/projects/${projectId}/git-token`, { token: 'any' });
    const url = `${host.url}/corpus/sample`;
    const { id } = await call<{ id: string }>('POST', '/repositories', { projectId, name: 'sample', url });
    const began = performance.now();
    await call('POST', `/repositories/${id}/benchmark`, { most: 30 });
    let shown = 0;
    const found = await until(
      'the end of the harvest',
      async () => {
        const benchmark = await call<Benchmark>('GET', `/repositories/${id}/benchmark`);
        const log = await call<{ text: string }[]>('GET', `/runs/${benchmark.runId}/events?offset=${shown}`);
        for (const { text } of log) say(`    ${text}`);
        shown += log.length;
        return benchmark.status !== 'harvesting' && benchmark;
      },
      4_000_000,
    );
    report(made, found, (performance.now() - began) / 60_000);
  } finally {
    await service.stop();
    host.close();
    await rm(root, { recursive: true, force: true });
  }
}

function report(made: Made[], { status, reason, looked, dropped, items }: Benchmark, minutes: number): void {
  const truth = new Map(made.map((each) => [each.sha, each]));
  const usable = items.filter(({ state }) => state === 'usable');
  const wrong = usable.filter(({ solutionSha }) => truth.get(solutionSha)?.isUsable !== true);
  // The first commit of the repository is none of the changes.
  const seen = made.slice(Math.max(0, made.length - looked));
  const findable = seen.filter(({ isUsable }) => isUsable);
  const found = new Set(usable.map(({ solutionSha }) => solutionSha));
  const missed = findable.filter(({ sha }) => !found.has(sha));
  say(`status             ${status}${reason === null ? '' : `: ${reason}`}`);
  say(`looked             ${looked} commits in ${minutes.toFixed(1)} minutes`);
  say(`truly usable       ${usable.length - wrong.length} of ${usable.length}`);
  say(`found              ${findable.length - missed.length} of ${findable.length} that could be found`);
  for (const { solutionSha } of wrong) say(`    WRONG: ${truth.get(solutionSha)?.message ?? solutionSha}`);
  for (const { sha, message } of missed) {
    const item = items.find(({ solutionSha }) => solutionSha === sha);
    say(`    missed: ${message}: ${item?.reason ?? 'dropped without a try'}`);
  }
  for (const each of dropped) say(`${String(each.count).padStart(6)}  ${each.reason}`);
}
