import { type Place, placeOfEvent } from '../../../src/github/app/place.ts';
import { proveAgainJob, proveMissed } from '../../../src/github/follow/prove-pulls.ts';
import { showProofs } from '../../../src/github/mirror/proofs/show-proofs.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked, people, shown } from '../../support/stand-ins/named-github.ts';

// The command of a writer lets the code of a fork run, but only that of a head which the writer could see.

const acme = openAcme();
const eve = shown(500, 'eve');
const head = (letter: string) => letter.repeat(40);

const place = {
  installation: { id: 1 },
  repository: { id: 1, full_name: 'acme/app', owner: { login: 'acme' }, name: 'app', private: true },
};
const told = async (id: string, action: string, sha: string) => {
  around.pages['/pulls/8'] = pull(sha);
  const payload = { action, number: 8, sender: eve, ...place, pull_request: pull(sha) };
  await acme.service.app.github?.receive({ id, name: 'pull_request', payload });
};
const emptied = async () => {
  const { em } = await acme.twoPeople();
  people.set(500, 'eve');
  for (const table of ['handled_commands', 'pull_asks', 'pull_proofs', 'reviewed_pulls', 'tasks'])
    await em.query(`delete from ${table}`);
  around.pages = {};
  return em;
};

const pull = (sha: string) => ({
  ...{
    number: 8,
    state: 'open',
    title: 'Mine',
    body: '',
    html_url: 'https://github.com/acme/app/pull/8',
    draft: false,
  },
  ...{ user: eve, labels: [], merged: false, merged_at: null, updated_at: new Date().toISOString() },
  head: { ref: 'topic', sha, repo: { id: 99, full_name: 'eve/app' }, user: eve },
  base: { ref: 'main', sha: head('0'), repo: { id: 1, full_name: 'acme/app', default_branch: 'main' } },
});

test.each([
  'review',
  'fix it',
  'prove',
])('/agent %s runs nothing of what was pushed to a fork after it', async (verb) => {
  const em = await emptied();
  await told(`${verb} opened`, 'opened', head('a'));
  const written = new Date(Date.now() - 60_000);
  // Eve pushes after the comment, and the delivery of the comment comes later than that of the push.
  await told(`${verb} pushed`, 'synchronize', head('b'));
  await acme.say(400, 'ada', `/agent ${verb}`, 8, written, { isPull: true });
  const asks = await em.query('select head_sha as sha, by_writer as "byWriter" from pull_asks');
  expect(asks.filter(({ byWriter }: { byWriter: boolean }) => byWriter)).toEqual([]);
});

test.each([0, 1])("a push to a fork %i s after the command, by GitHub's whole seconds, was not seen", async (later) => {
  const em = await emptied();
  await em.query('delete from pull_heads');
  await told(`${later} first`, 'opened', head('a'));
  const pushed = new Date(Math.floor(Date.now() / 1000) * 1000 - 60_000);
  await em.query(`update pull_heads set head_sha = $1, since = $2`, [head('b'), pushed]);
  around.pages['/pulls/8'] = pull(head('b'));
  await acme.say(400, 'ada', '/agent prove', 8, new Date(pushed.getTime() - later * 1000), { isPull: true });
  expect(await em.query('select 1 from pull_asks')).toEqual([]);
});

test('a pull request whose move to another base was not heard of is proved again', async () => {
  const em = await emptied();
  const settings = Buffer.from('checks: [node --test]\nprove: everyone\n').toString('base64');
  around.pages['/contents/.deckhand.yml'] = { encoding: 'base64', content: settings };
  const ada = shown(400, 'ada');
  const own = (base: string) => ({
    ...pull(head('a')),
    user: ada,
    head: { ref: 'topic', sha: head('a'), repo: place.repository, user: ada },
    base: { ...pull(head('a')).base, ref: base },
  });
  around.pages['/pulls/8'] = own('side');
  const payload = { action: 'opened', number: 8, sender: ada, ...place, pull_request: own('side') };
  await acme.service.app.github?.receive({ id: 'of ada', name: 'pull_request', payload } as never);
  await em.query(`update pull_proofs set status = 'no_tests', at = now()`);
  await em.query(`update runs set status = 'succeeded', finished_at = now() where status = 'queued'`);
  await em.query(`update tasks set status = 'done' where hidden`);
  around.pages['/pulls/8'] = own('main');
  const { merged: _, ...listed } = own('main');
  around.pages['/pulls'] = [{ ...listed, updated_at: new Date(Date.now() + 60_000).toISOString() }];
  const there = await placeOfEvent(acme.service.app, place.installation, place.repository);
  await proveMissed(acme.service.app, there as Place, () => false);
  const [{ repositoryId }] = await em.query('select repository_id as "repositoryId" from pull_proofs');
  await proveAgainJob(acme.service.app, { repositoryId, number: 8 });
  expect(await em.query('select base_branch as base from pull_asks order by created_at')).toEqual([
    { base: 'side' },
    { base: 'main' },
  ]);
});

test('the check run of each head says once that the settings cannot be used, until they can', async () => {
  const em = await emptied();
  const settings = (text: string) => {
    around.pages['/contents/.deckhand.yml'] = { encoding: 'base64', content: Buffer.from(text).toString('base64') };
  };
  const held = (): Promise<{ id: string; sha: string; hold: string | null; reason: string | null }[]> =>
    em.query('select id, head_sha as sha, hold, reason from pull_proofs order by created_at');
  settings('checks: [node --test]\nprove: everybody\n');
  await told('broken opened', 'opened', head('a'));
  await told('broken opened again', 'reopened', head('a'));
  const [first, ...others] = await held();
  expect([first, others]).toMatchObject([{ sha: head('a'), hold: 'settings' }, []]);
  expect(first?.reason).toContain('line 2: prove: must be ours');
  const jobs = await em.query(`select task_id as "taskId" from reviewed_pulls where purpose = 'proof'`);
  asked.length = 0;
  await showProofs(acme.service.app, jobs[0].taskId);
  expect(asked.filter(({ path }) => path.endsWith('/check-runs'))).toMatchObject([
    { body: { name: 'Deckhand proof', head_sha: head('a'), conclusion: 'neutral' } },
  ]);

  // Where weakened tests failed before, nothing may be merged unseen now.
  await em.query('update pull_proofs set is_required = true');
  await told('broken pushed', 'synchronize', head('b'));
  expect(
    await em.query(`select is_required as "isRequired" from pull_proofs where head_sha = $1`, [head('b')]),
  ).toEqual([{ isRequired: true }]);
  const { merged: _, ...listed } = pull(head('b'));
  around.pages['/pulls'] = [listed];
  settings('{}\n');
  const there = await placeOfEvent(acme.service.app, place.installation, place.repository);
  await proveMissed(acme.service.app, there as Place, () => false);
  expect(await held()).toMatchObject([{ hold: null }, { sha: head('b'), hold: 'settings', reason: null }]);
  // The pull request is one of a fork, so its proof waits for a person.
  settings('prove: { everyone: required }\n');
  await told('mended', 'reopened', head('b'));
  expect((await held())[1]).toMatchObject({ sha: head('b'), hold: 'writer', reason: null });
});
