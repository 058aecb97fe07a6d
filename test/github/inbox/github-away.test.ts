import { syncInstallation } from '../../../src/github/app/installation.ts';
import { compareJob, reconcileAll } from '../../../src/github/inbox/compare-with-github.ts';
import { listProjectsToCompare } from '../../../src/github/store.ts';
import { figuresOfDatabase } from '../../../src/worker/lease/figures.ts';
import { noteWorker } from '../../../src/worker/lease/labels.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { appSettings } from '../../support/github-app.ts';
import type { FakeGitHub } from '../../support/stand-ins/fake-github.ts';
import { around, installations, openNamedGitHub, resetNames } from '../../support/stand-ins/named-github.ts';

let github: FakeGitHub;
let service: TestApp;
beforeAll(async () => {
  github = await openNamedGitHub();
  service = await openTestApp({ ...appSettings(github.url) });
  await noteWorker(service.app.db.manager, 'worker', []);
});
afterAll(async () => {
  await service.close();
  github.close();
});

/** Sweeps as a worker does, and returns whether the age of the last sweep is then less than a minute. */
async function isSwept(): Promise<boolean> {
  const { app } = service;
  const em = app.db.manager;
  // As if everything before had been an hour ago.
  await em.query(`update reconciliations set finished_at = finished_at - interval '1 hour'`);
  await em.query(`update read_marks set at = at - interval '1 hour'`);
  await reconcileAll(app, 'scheduled');
  for (const projectId of await listProjectsToCompare(em, null)) await compareJob(app, projectId);
  const { gauges, read } = figuresOfDatabase(
    { ...app, metrics: { ...app.metrics, registry: app.metrics.registry } },
    'worker',
  );
  await read();
  const [swept] = (await gauges.at(-1)?.get())?.values ?? [];
  for (const gauge of gauges) app.metrics.registry.removeSingleMetric((await gauge.get()).name);
  return Date.now() / 1000 - (swept?.value ?? 0) < 60;
}

test('a sweep during which GitHub cannot be reached does not count, and its requests count as failed', async () => {
  const { app } = service;
  expect(await isSwept()).toBe(true);
  resetNames();
  await syncInstallation(app, installations[0] as (typeof installations)[0], true);
  Object.assign(around.pages, { '/issues': [], '/issues/comments': [], '/pulls': [] });
  expect(await isSwept()).toBe(true);
  // What GitHub refuses is an answer.
  around.pages = {};
  expect(await isSwept()).toBe(true);
  const failed = async () =>
    (await app.metrics.githubRequests.get()).values.find(({ labels }) => labels.outcome === 'failed')?.value;
  expect(await failed()).toBe(0);
  github.close();
  expect(await isSwept()).toBe(false);
  expect(await failed()).toBeGreaterThan(0);
});

test('if GitHub has never been reached, the first sweep ages all the same', async () => {
  await service.app.db.manager.query(`delete from read_marks where name = 'compared with GitHub'`);
  expect(await isSwept()).toBe(false);
});
