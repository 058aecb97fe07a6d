import { isOfStranger } from '../../../src/github/inbox/of-stranger.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked } from '../../support/stand-ins/named-github.ts';
import { ada, eve, place, pullOf } from '../mirror/proofs-of-head.ts';

const acme = openAcme();
const isStrange = async (payload: object) => {
  const { em } = await acme.twoPeople();
  return isOfStranger(em, { ...place, ...payload });
};
const pull = (author_association: string, user = eve) => ({
  ...{ action: 'synchronize', sender: user },
  pull_request: { ...pullOf({ number: 7, user }), author_association },
});

test.each([
  ['a pull request from a fork', pull('NONE'), true],
  ['that of a collaborator', pull('COLLABORATOR'), false],
  ['one from a branch here', pull('NONE', ada), false],
  ['one that somebody else has labeled', { ...pull('NONE'), sender: ada }, false],
  ['a comment', { sender: eve, comment: { user: eve, author_association: 'CONTRIBUTOR' } }, true],
  ['a comment of a member', { sender: ada, comment: { user: ada, author_association: 'MEMBER' } }, false],
  ['a push', { sender: eve, ref: 'refs/heads/main' }, false],
])('%s', async (_name, payload, expected) => {
  expect(await isStrange(payload)).toBe(expected);
});

test('a member of the project is no stranger, even if GitHub does not show it', async () => {
  const { em, projectId } = await acme.twoPeople();
  await em.query(`insert into users (id, github_id, login) values ('user_eve', 500, 'eve') on conflict do nothing`);
  await em.query(
    `insert into members (project_id, user_id, role) select $1, id, 'viewer' from users where github_id = 500`,
    [projectId],
  );
  expect(await isOfStranger(em, { ...place, ...pull('NONE') })).toBe(false);
  await em.query(`delete from members where user_id in (select id from users where github_id = 500)`);
});

test('what was proved of a pull request is taken back at once when it goes elsewhere', async () => {
  const { em, own } = await acme.twoPeople();
  const edited = { ...place, ...pull('NONE'), action: 'edited' };
  expect(await isOfStranger(em, edited)).toBe(true);
  await em.query(
    `insert into pull_proofs (id, repository_id, number, head_sha, is_required, status, at) values ('proof_7', $1, 7, 'a', true, 'no_tests', now())`,
    [own.id],
  );
  expect(await isOfStranger(em, edited)).toBe(false);
  await em.query('delete from pull_proofs');
});

test('an event of a stranger waits for the next hour when strangers have used their part, others do not', async () => {
  await acme.twoPeople();
  const { app } = acme.service;
  const reset = String(Math.ceil(Date.now() / 1000) + 3600);
  const headers = {
    ...{ 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '90' },
    ...{ 'x-ratelimit-reset': reset, 'x-ratelimit-resource': 'core' },
  };
  for (let i = 0; i < 10; i++) app.metrics.githubQuota.note(1, headers, { repository: 'acme/app', isOfStranger: true });
  around.pages['/pulls/7'] = pullOf({ number: 7, user: eve });
  const told = (payload: object) =>
    app.github?.receive({
      id: `${Math.random()}`,
      name: 'pull_request',
      payload: { ...place, number: 7, ...payload },
    } as never);
  asked.length = 0;
  await expect(told(pull('NONE'))).rejects.toThrow();
  expect(asked).toEqual([]);
  await told(pull('COLLABORATOR'));
});
