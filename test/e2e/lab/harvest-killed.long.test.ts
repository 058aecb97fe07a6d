import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../demo/real-service.ts';
import { openSeparateWorld } from '../../support/world.ts';
import { type Benchmark, pushHistory } from './history.ts';

test('a worker that takes over a harvest tries nothing again; after the hour it ends with what it has', async () => {
  const world = await openSeparateWorld(() => []);
  const root = await mkdtemp(join(tmpdir(), 'deckhand-harvest-'));
  try {
    await pushHistory(world, root);
    const [{ id } = { id: '' }] = await world.get<{ id: string }[]>('/repositories');
    const path = `/repositories/${id}/benchmark`;
    const { runId } = await world.service.api<Benchmark>(world.token, 'POST', path, { most: 1 });
    const steps = () =>
      world.sql<{ name: string; at: string }>(
        `select name, at::text from run_steps where run_id = $1 and starts_with(name, 'tried ') order by at, name`,
        [runId],
      );
    const ended = () =>
      until('the harvest', async () => {
        const now = await world.get<Benchmark>(path);
        return now.status !== 'harvesting' && now;
      });
    await until('some tries', async () => (await steps()).length >= 3);
    await world.kill();
    const before = await steps();
    await world.restart();
    expect(await ended()).toMatchObject({ status: 'ready', usable: 1 });
    expect((await steps()).slice(0, before.length)).toEqual(before);
    const again = await world.service.api<Benchmark>(world.token, 'POST', path, { most: 5 });
    await world.sql(`update runs set started_at = now() - interval '61 minutes' where id = $1`, [again.runId]);
    await until(
      'its worker',
      async () => (await world.get<{ status: string }>(`/runs/${again.runId}`)).status !== 'queued',
    );
    await world.sql(`update runs set started_at = now() - interval '61 minutes' where id = $1`, [again.runId]);
    await world.kill();
    await world.restart();
    expect(await ended()).toMatchObject({ status: 'ready', reason: null, usable: 1 });
    const log = await world.get<{ text: string }[]>(`/runs/${again.runId}/events`);
    expect(log.at(-1)?.text).toMatch(/until the hour was over\.$/);
  } finally {
    await world.close();
    await rm(root, { recursive: true, force: true });
  }
});
