import { choicesOf, chosenAgent, planningPrompt } from '../../src/planning/prompts.ts';
import { getSession } from '../../src/planning/store.ts';
import { openAcme } from '../support/stand-ins/acme.ts';

const acme = openAcme();

test("a plan gets no words of other people's agents, and may give them tasks all the same", async () => {
  const { em, ids, own, projectId, call } = await acme.twoPeople();
  await em.query(
    `insert into wizard_sessions (id, project_id, repository_ids, goal, status, created_by, directed_by, steps, updated_at)
     values ('wiz_1', $1, $2, 'A goal', 'plan_ready', $3, $4, '[]', now())`,
    [projectId, JSON.stringify([own.id]), ids.ada, JSON.stringify([ids.ada])],
  );
  const make = (who: 'ada' | 'bob', name: string) =>
    call(who, 'POST', '/agents', { name, description: `Words of ${who}`, systemPrompt: 'x' });
  const [mine, theirs] = [await make('ada', 'Mine'), await make('bob', 'Theirs, reads acme/secret')];
  // With a task, everybody in the project sees it.
  await call('bob', 'POST', `/projects/${projectId}/tasks`, {
    title: 't',
    owner: theirs.body.id,
    repositoryId: own.id,
  });
  const session = await getSession(em, projectId, 'wiz_1');
  const choices = await choicesOf(acme.service.app, session, ids.ada);
  const { user } = planningPrompt('write_tasks', session, { choices });
  expect(user).toContain('- Mine: Words of ada');
  expect(user).toContain('- Developer: ');
  expect(user).not.toMatch(/Theirs|Words of bob/);
  expect([mine, theirs].map(({ body }) => chosenAgent(choices, body.name)?.id)).toEqual([mine.body.id, theirs.body.id]);
});
