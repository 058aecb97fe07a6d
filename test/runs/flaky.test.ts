import { newId } from '../../src/db/ids.ts';
import { countCompared, countDiffering, isKnownFlaky } from '../../src/runs/proof/flaky-store.ts';
import { minutesToday, storeJudged, upsertPullProof } from '../../src/runs/pull-proofs/pull-proofs.ts';
import { openRuns } from '../support/runs.ts';

const given = openRuns();
let repositoryId: string;
beforeAll(async () => {
  repositoryId = newId('repo');
  await given.service.app.db.manager.query(
    `insert into repositories (id, project_id, name, url, default_branch) values ($1, $2, 'app', 'https://github.com/mona/app', 'main')`,
    [repositoryId, given.projectId],
  );
});

const read = async (what: string) => {
  const { token } = given;
  const { status, body } = await given.service.call('GET', `/repositories/${repositoryId}/${what}`, { token });
  expect(status).toBe(200);
  return body;
};

test('checks that differ are listed with how often, those that differed last first', async () => {
  const em = given.service.app.db.manager;
  const count = (command: string, differs: boolean, tests: string[] = []) =>
    countCompared(em, repositoryId, [{ command, differs, tests }]);
  expect(await read('flaky')).toEqual([]);
  await count('npm test', true, ['adds']);
  await count('npm test', false);
  await count('npm run lint', false);
  await countDiffering(em, repositoryId, 'ci', 'a'.repeat(40));
  await countDiffering(em, repositoryId, 'ci', 'a'.repeat(40));
  expect(await read('flaky')).toEqual([
    { command: 'ci', seen: 1, of: 1, lastAt: expect.any(String), tests: [] },
    { command: 'npm test', seen: 1, of: 2, lastAt: expect.any(String), tests: ['adds'] },
  ]);
  expect(await read('flaky?limit=1&offset=1')).toMatchObject([{ command: 'npm test' }]);
  expect([
    await isKnownFlaky(em, repositoryId, 'npm test'),
    await isKnownFlaky(em, repositoryId, 'npm run lint'),
  ]).toEqual([true, false]);
});

test('proofs are listed, and counted by month with their last judged head', async () => {
  const em = given.service.app.db.manager;
  const judge = async (number: number, headSha: string, status: 'proved' | 'weakened', reason: string | null) => {
    const runId = await given.addRun(em, { kind: 'prove', agentId: null });
    const asked = { repositoryId, number, headSha, author: 'mona', runId, hold: null, isRequired: false };
    await upsertPullProof(em, { ...asked, minutesPerDay: 60, base: 'main', rules: null });
    const judged = { proof: { status, reason }, notes: [], seconds: 7, fingerprint: null, commits: [] };
    await storeJudged(em, runId, judged);
  };
  await judge(1, 'a'.repeat(40), 'weakened', 'the earlier tests fail with this change');
  await judge(1, 'b'.repeat(40), 'proved', null);
  await judge(2, 'c'.repeat(40), 'weakened', 'the earlier tests fail with this change');
  expect(await read('proofs')).toMatchObject([
    {
      pullRequest: 2,
      status: 'weakened',
      reason: 'the earlier tests fail with this change',
      author: 'mona',
      seconds: 7,
    },
    { pullRequest: 1, headSha: 'b'.repeat(40), status: 'proved', reason: null },
    { pullRequest: 1, headSha: 'a'.repeat(40) },
  ]);
  expect(await read('proofs?limit=1&offset=2')).toMatchObject([{ headSha: 'a'.repeat(40) }]);
  const { months, slow, badge } = await read('proof-figures');
  expect(months).toEqual([{ month: expect.stringMatching(/^\d{4}-\d\d$/), proved: 1, judged: 2 }]);
  expect(slow).toEqual([]);
  expect(await minutesToday(em, repositoryId, null)).toBe(0);
  // The badge needs no sign-in, and a changed address shows nothing.
  const open = (path: string) => fetch(given.service.url + path);
  const shown = await open(new URL(badge).pathname);
  expect([shown.status, await shown.json()]).toEqual([200, expect.objectContaining({ message: '50 %' })]);
  expect((await open(new URL(badge).pathname.replace(/.\.json$/, '.json'))).status).toBe(404);
});
