import { newId } from '../../../src/db/ids.ts';
import { park } from '../../../src/runs/waiting/park.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { writers } from '../../support/stand-ins/named-github.ts';

// A fix pushes to the branch of a person, so people direct it only with write permission there.

const acme = openAcme();

/** A live run of a kind, for which bob, a member, has no write permission on GitHub. */
async function live(kind: 'fix' | 'start') {
  const people = await acme.twoPeople();
  const { em, call, task, claimed } = people;
  writers.clear();
  writers.add('400 1');
  const id = await task('ada');
  await call('ada', 'POST', `/tasks/${id}/start`);
  const { run, journal } = await claimed();
  await em.query('update runs set kind = $2 where id = $1', [run.id, kind]);
  const say = (who: 'ada' | 'bob') => call(who, 'POST', `/tasks/${id}/say`, { text: 'Push this, too.' });
  const directors = async (): Promise<string[]> =>
    (await em.query('select directed_by as d from runs where id = $1', [run.id]))[0].d;
  return { ...people, id, run, journal, say, directors };
}

test('a member without write permission says nothing to a fix, and approves nothing of it', async () => {
  const { call, say, id, ids, run, journal, directors } = await live('fix');
  const refused = await say('bob');
  expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('no write permission')]);
  expect((await say('ada')).status).toBe(202);
  const wait = { id: newId('wait'), text: 'A change', options: [], seconds: null, reason: 'push' as const };
  await journal.write((tx) => park(acme.service.app, tx, run, wait));
  expect((await call('bob', 'POST', `/tasks/${id}/approve`)).status).toBe(403);
  expect((await call('ada', 'POST', `/tasks/${id}/approve`)).status).toBe(200);
  expect(await directors()).toEqual([ids.ada]);
});

test('what a run of a task follows are the words of its project', async () => {
  const { say } = await live('start');
  expect((await say('bob')).status).toBe(202);
});
