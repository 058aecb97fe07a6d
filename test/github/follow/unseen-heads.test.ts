import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, people, shown } from '../../support/stand-ins/named-github.ts';

// A writer's word lets the code of a fork run. It is about the head that the writer could see, also when it is read late.

const acme = openAcme();
const eve = shown(500, 'eve');
const head = (letter: string) => letter.repeat(40);

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
  const { em } = await acme.twoPeople();
  people.set(500, 'eve');
  for (const table of ['handled_commands', 'pull_asks', 'pull_proofs', 'reviewed_pulls', 'tasks'])
    await em.query(`delete from ${table}`);
  const place = {
    installation: { id: 1 },
    repository: { id: 1, full_name: 'acme/app', owner: { login: 'acme' }, name: 'app', private: true },
  };
  const told = async (id: string, action: string, sha: string) => {
    around.pages = { '/pulls/8': pull(sha) };
    const payload = { action, number: 8, sender: eve, ...place, pull_request: pull(sha) };
    await acme.service.app.github?.receive({ id: `${verb} ${id}`, name: 'pull_request', payload });
  };
  await told('opened', 'opened', head('a'));
  const written = new Date(Date.now() - 60_000);
  // Eve pushes after the comment, and the delivery of the comment comes later than that of the push.
  await told('pushed', 'synchronize', head('b'));
  await acme.say(400, 'ada', `/agent ${verb}`, 8, written, { isPull: true });
  const asks = await em.query('select head_sha as sha, by_writer as "byWriter" from pull_asks');
  expect(asks.filter(({ byWriter }: { byWriter: boolean }) => byWriter)).toEqual([]);
});
