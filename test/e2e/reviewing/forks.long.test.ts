import { until } from '../../../demo/real-service.ts';
import { noSettings } from '../../../src/repositories/settings/repository-settings.ts';
import { settingsForPull } from '../../../src/worker/workspace/pull-branch.ts';
import { gitAsync, gitOut } from '../../support/git.ts';
import { type Open, openReviewWorld } from './review-world.ts';

let world: Open;
afterEach(() => world.close());

test('the branch of a fork gets no network, no submodules and, unless a writer asks, no set-up', async () => {
  const settings = {
    ...noSettings,
    network: { setup: ['defaults'], agent: ['example.org'] },
    checkout: { submodules: true, lfs: true, paths: ['app'] },
  };
  const of = (isFork: boolean, byWriter: boolean) =>
    settingsForPull(settings, { isFork, byWriter } as Parameters<typeof settingsForPull>[1]);
  expect(of(false, false)).toEqual(settings);
  expect(of(true, true)).toMatchObject({ network: { agent: [] }, setupOfChange: 'packages' });
  expect(of(true, false)).toMatchObject({
    network: { agent: [] },
    setupOfChange: 'approved',
    checkout: { submodules: false, lfs: false, paths: ['app'] },
  });
  world = await openReviewWorld(() => [
    {
      name: 'review',
      arguments: {
        summary: 'One thing.',
        comments: [{ path: 'src/a.js', line: 1, severity: 'major', text: 'Wrong.', suggestion: 'export const a = 2;' }],
      },
    },
  ]);
  const number = await world.pull('theirs', { 'src/a.js': 'export const a = 1;\n' });
  const bare = world.github.folderOf('mona/sample');
  const head = gitOut(bare, 'rev-parse', 'theirs');
  // As on GitHub, the head of a fork is in the repository only under the ref of its pull request.
  await gitAsync(bare, 'update-ref', `refs/pull/${number}/head`, head);
  world.github.rare.forks.add(number);
  const mona = world.github.as('mona');
  await mona('POST', `/repos/mona/sample/issues/${number}/comments`, { body: '/agent fix it' });
  const run = await until('the run', async () => (await world.sql<{ id: string }>('select id from runs', []))[0]);
  expect(await world.ended(run.id, 'succeeded')).toMatchObject({ kind: 'review' });
  // Nothing is pushed to the branch; the fix is a suggestion.
  expect(gitOut(bare, 'rev-parse', 'theirs')).toBe(head);
  expect((await world.lineComments(number))[0]?.body).toContain('```suggestion\nexport const a = 2;\n```');
  expect(JSON.stringify(world.model.requests[0])).toContain('nothing can be pushed there');
});

test('pushes to a fork during a review repeat it twice, and none of their code runs before a writer asks again', async () => {
  const hold = Promise.withResolvers<void>();
  world = await openReviewWorld(() => [{ name: 'review', arguments: { summary: 'Fine.', comments: [] } }], {
    before: () => hold.promise,
  });
  const number = await world.pull('theirs', { 'src/a.js': 'export const a = 1;\n' });
  world.github.rare.forks.add(number);
  const asks = () =>
    world.sql<{ sha: string; byWriter: boolean; status: string }>(
      `select p.head_sha as sha, p.by_writer as "byWriter", r.status from pull_asks p join runs r on r.id = p.run_id
       order by r.created_at, r.id`,
      [],
    );
  await world.review(number);
  const heads: string[] = [];
  for (const n of [2, 3, 4, 5]) {
    heads.push(await world.push('theirs', { 'src/a.js': `export const a = ${n};\n` }));
    if (n < 4)
      await until(`the review of push ${n}`, async () => (await asks()).some(({ sha }) => sha === heads.at(-1)));
  }
  await until('the deliveries', async () => {
    const [left] = await world.sql<{ count: number }>(
      `select count(*)::int as count from deliveries where handled_at is null`,
      [],
    );
    return left?.count === 0;
  });
  expect((await asks()).map(({ byWriter, status }) => [byWriter, status === 'cancelled'])).toEqual([
    [true, true],
    [false, true],
    [false, false],
  ]);
  hold.resolve();
  await until('the end', async () => (await asks()).every(({ status }) => ['cancelled', 'succeeded'].includes(status)));
  const again = await world.review(number);
  await world.ended(again.id, 'succeeded');
  expect((await asks()).map(({ byWriter }) => byWriter)).toEqual([true, false, false, true]);
});
