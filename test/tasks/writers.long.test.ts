import { openAcme } from '../support/stand-ins/acme.ts';
import { people, writers } from '../support/stand-ins/named-github.ts';

// Commands need write permission on the repository, not a role in the project.

const acme = openAcme();

/** A task of an issue without an agent. */
async function unassigned(number: number) {
  const { em, own, task } = await acme.twoPeople();
  people.set(600, 'wendy');
  writers.add('600 1');
  const id = await task('ada');
  await em.query(
    `update tasks set owner = null, issue_repository_id = $2, issue_number = $3, issue_url = 'u', issue_title = 't',
       issue_body = '' where id = $1`,
    [id, own.id, number],
  );
  const owner = () => em.query('select a.name from tasks t join agents a on a.id = t.owner where t.id = $1', [id]);
  return { owner };
}

test('a writer who is no member assigns a task to an agent of the project', async () => {
  const { owner } = await unassigned(5);
  await acme.say(600, 'wendy', '/agent assign reviewer', 5);
  expect(await owner()).toEqual([{ name: 'Reviewer' }]);
});

test('nobody assigns a task to an agent of another project, or of somebody who is no member', async () => {
  await unassigned(6);
  const token = await acme.service.token('wendy');
  const call = (method: string, path: string, body?: object) => acme.service.call(method, path, { token, body });
  expect((await call('POST', '/agents', { name: 'Spy' })).status).toBe(201);
  const { body: elsewhere } = await call('POST', '/projects', { name: 'Elsewhere' });
  const { body: agents } = await call('GET', `/agents?projectId=${elsewhere.id}`);
  expect((await call('PATCH', `/agents/${agents[0].id}`, { name: 'Outsider' })).body).toMatchObject({
    name: 'Outsider',
  });
  for (const [i, name] of ['Spy', 'Outsider', agents[0].id].entries()) {
    const { owner } = await unassigned(7 + i);
    await acme.say(600, 'wendy', `/agent assign ${name}`, 7 + i);
    expect(await owner()).toEqual([]);
  }
});
