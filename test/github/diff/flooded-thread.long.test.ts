import { handleCommands } from '../../../src/github/commands/handle-commands.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, shown } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const number = 62;

/** A task of ada's in review, with a thread in which a stranger wrote these comments before ada. */
async function afterStranger(bodies: string[]) {
  const { em, own, task, call } = await acme.twoPeople();
  const id = await task('ada');
  await em.query('delete from handled_commands');
  await em.query(`update tasks set status = 'in_review', branch_name = 'agent/x' where id = $1`, [id]);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, $3, $4, 'open', 'agent/x', 'none')`,
    [id, own.id, number, `https://github.com/acme/app/pull/${number}`],
  );
  const place = { path: 'a.txt', line: 1, original_line: 1, side: 'RIGHT', diff_hunk: '@@', subject_type: 'line' };
  const said = { ...place, pull_request_review_id: null, created_at: '2020-01-01T00:00:00Z' };
  const comments = [...bodies.map((body) => ({ body, user: shown(900, 'stranger') }))];
  const all = [...comments, { body: '/agent revise Use another name.', user: shown(400, 'ada') }].map((each, i) => ({
    ...{ ...said, ...each, id: i + 1, node_id: `n${i + 1}`, ...(i === 0 ? {} : { in_reply_to_id: 1 }) },
  }));
  const last = all.length;
  around.pages[`/pulls/${number}/comments`] = (query: URLSearchParams) =>
    query.get('page') === '1' || !query.get('page') ? all : [];
  around.pages[`/pulls/comments/${last}`] = all.at(-1);
  around.pages[`/pulls/${number}`] = {
    number,
    state: 'open',
    head: { sha: 'x', ref: 'agent/x' },
    base: { ref: 'main' },
  };
  const revise = () =>
    handleCommands(acme.service.app, {
      installationId: 1,
      repository: { id: 1, private: true, full_name: 'acme/app' },
      issue: { number, title: 'An issue', body: '', url: 'u', isPull: true },
      sender: shown(400, 'ada'),
      body: '/agent revise Use another name.',
      commentId: null,
      inReview: { kind: 'thread', commentId: last, firstId: 1, reviewId: null },
      writtenAt: new Date(Date.now() + 1000).toISOString(),
    });
  return { em, id, call, revise };
}

test('the comments of a stranger do not keep somebody with write permission from a request in the thread', async () => {
  const { revise, em, id } = await afterStranger(Array.from({ length: 5 }, () => '` '.repeat(32_000)));
  await revise();
  const runs = await em.query('select kind from runs where task_id = $1', [id]);
  expect(runs).toEqual([{ kind: 'revise' }]);
});

test('what a stranger wrote in a thread is quoted up to a limit, as comments of the assignment are', async () => {
  const { revise, em, id } = await afterStranger(Array.from({ length: 8 }, () => 'x'.repeat(65_000)));
  await revise();
  const [run] = await em.query('select instructions from runs where task_id = $1', [id]);
  // A prompt has at most 400,000 characters, and other texts need room, too.
  expect(run?.instructions.length).toBeLessThan(100_000);
  expect(run?.instructions).toContain('Use another name.');
  expect(run?.instructions).toContain('[… 7 comments left out …]\n\nada:\n');
});
