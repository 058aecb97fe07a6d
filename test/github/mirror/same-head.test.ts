import { showProofs } from '../../../src/github/mirror/reviews/show-proofs.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked } from '../../support/stand-ins/named-github.ts';

// GitHub counts the latest check run of a name for every pull request of a commit.

const acme = openAcme();
const sha = 'a'.repeat(40);

/** Two pull requests of one commit, with what their proofs say. */
async function sameHead(first: string, second: string | null) {
  const { em, own, projectId } = await acme.twoPeople();
  for (const table of ['pull_proofs', 'reviewed_pulls', 'tasks']) await em.query(`delete from ${table}`);
  const ids = ['task_7', 'task_8'] as const;
  for (const [number, status] of [
    [7, first],
    [8, second],
  ] as const) {
    const id = `task_${number}`;
    await em.query(`insert into tasks (id, project_id, title, status, hidden) values ($1, $2, 'x', 'backlog', true)`, [
      ...[id, projectId],
    ]);
    await em.query(
      `insert into reviewed_pulls (repository_id, number, task_id, purpose) values ($1, $2, $3, 'proof')`,
      [own.id, number, id],
    );
    await em.query(
      `insert into pull_proofs (id, repository_id, number, head_sha, is_required, status, at)
       values ($1, $2, $3, $4, true, $5, case when $5::text is not null then now() end)`,
      [`proof_${number}`, own.id, number, sha, status],
    );
    say(number, 'open', sha);
  }
  around.pages[`/commits/${sha}/check-runs`] = { total_count: 0, check_runs: [] };
  const judge = (number: number, status: string) =>
    em.query(`update pull_proofs set status = $2, at = now() where id = $1`, [`proof_${number}`, status]);
  return { ids, judge };
}

const say = (number: number, state: string, head: string) => {
  around.pages[`/pulls/${number}`] = { number, state, head: { sha: head, ref: 'x' }, base: { ref: 'main' } };
};

/** What each check run shows after a job about a task, in order, by the proof that it is about. */
async function shownAfter(taskId: string) {
  asked.length = 0;
  await showProofs(acme.service.app, taskId);
  return asked
    .filter(({ path }) => path.includes('/check-runs'))
    .map(({ body }) => [
      body.external_id ?? 'again',
      body.conclusion ?? body.status,
      (body.output as { title: string }).title,
    ]);
}

test('weakened tests fail the check runs of all pull requests of a commit, until theirs has another head or is closed', async () => {
  const { ids } = await sameHead('weakened', 'proved');
  const weakened = expect.stringMatching(/^Tests were weakened/);
  const ofAnother = expect.stringMatching(/^Pull request #7: Tests were weakened/);
  expect(await shownAfter(ids[1])).toEqual([
    ['proof_8', 'failure', ofAnother],
    ['proof_7', 'failure', weakened],
  ]);
  expect(await shownAfter(ids[0])).toEqual([]);
  say(7, 'closed', sha);
  expect(await shownAfter(ids[0])).toEqual([
    ['proof_8', 'neutral', expect.stringMatching(/^Its tests fail without it/)],
  ]);
  say(7, 'open', 'b'.repeat(40));
  expect(await shownAfter(ids[1])).toEqual([]);
});

test('a proof that another pull request of the commit waits for is waited for in all, and then shown in all', async () => {
  const { ids, judge } = await sameHead('proved', null);
  expect(await shownAfter(ids[0])).toEqual([
    ['proof_7', 'cancelled', 'Pull request #8: Cancelled'],
    ['proof_8', 'cancelled', 'Cancelled'],
  ]);
  await judge(8, 'weakened');
  expect((await shownAfter(ids[1])).map(([, conclusion]) => conclusion)).toEqual(['failure', 'failure']);
  await judge(8, 'changed');
  expect((await shownAfter(ids[1])).map(([, conclusion]) => conclusion)).toEqual(['neutral', 'neutral']);
});
