import { migrations } from '../../migrations/list.ts';
import { findBuiltInAgent } from '../../src/agents/store.ts';
import { openDatabase } from '../../src/db/database.ts';
import { builtInAgents } from '../../src/domain/agent.ts';
import { planningModel } from '../../src/planning/ask-model.ts';
import { createTestDatabase } from '../support/database.ts';
import { openTeam } from './team.ts';

const { as, sql, project, app } = await openTeam();

test('a built-in agent stays built-in when it is renamed, changed and evolved', async () => {
  for (const builtIn of builtInAgents) {
    const agent = await findBuiltInAgent(app.db.manager, project, builtIn);
    const path = `/agents/${agent?.id}`;
    expect((await as('owner', 'PATCH', path, { name: `Renamed ${builtIn}`, systemPrompt: 'Mine.' })).status).toBe(200);
    expect((await findBuiltInAgent(app.db.manager, project, builtIn))?.id).toBe(agent?.id);
    const evolved = await as('owner', 'POST', `${path}/evolve`, { newSystemPrompt: 'Newer.' });
    expect(await findBuiltInAgent(app.db.manager, project, builtIn)).toMatchObject({
      id: evolved.body.id,
      name: `Renamed ${builtIn}`,
      systemPrompt: 'Newer.',
    });
  }
  await sql(`update agents set model = 'of the architect' where project_id = $1 and built_in = 'architect'`, [project]);
  const token = { OPENAI_API_KEY: 'sk-x' };
  const planned = { projectId: project, repositoryIds: [] };
  const model = await planningModel({ ...app, config: { ...app.config, ...token } }, planned, null);
  expect(model.name).toBe('of the architect');
});

test('another agent can have the name of a built-in agent without replacing it', async () => {
  const writer = await findBuiltInAgent(app.db.manager, project, 'writer');
  const qa = await findBuiltInAgent(app.db.manager, project, 'qa');
  await as('owner', 'PATCH', `/agents/${writer?.id}`, { name: 'Developer' });
  expect((await findBuiltInAgent(app.db.manager, project, 'developer'))?.name).toBe('Renamed developer');
  await as('owner', 'DELETE', `/agents/${qa?.id}`);
  expect(await findBuiltInAgent(app.db.manager, project, 'qa')).toBeNull();
});

test('the migration recognizes built-in agents by an earlier name or by their description', async () => {
  const database = await createTestDatabase();
  const at = migrations.findIndex(({ name }) => name.startsWith('AgentsThatLearn'));
  const before = await openDatabase(database.url, migrations);
  const source = before.manager.connection;
  try {
    for (const _ of migrations.slice(at)) await source.undoLastMigration();
    await source.query(`insert into projects (id, slug, name) values ('p', 'p', 'P')`);
    const rows = [
      ['dev1', 'Developer', '', 1, null, false],
      ['dev2', 'Coder', 'changed', 2, 'dev1', true],
      ['arch', 'Boss', 'Plans and splits work, and keeps the design simple.', 1, null, true],
      ['other', 'Reviewer 2', 'mine', 1, null, true],
      ['qa', 'QA Engineer', '', 1, null, true],
    ];
    for (const row of rows)
      await source.query(
        `insert into agents (id, project_id, name, description, version, previous_version_id, is_newest)
         values ($1, 'p', $2, $3, $4, $5, $6)`,
        row,
      );
    await source.runMigrations();
    const found = await source.query('select id, built_in as key from agents order by id');
    expect(found.map(({ id, key }: { id: string; key: string }) => [id, key])).toEqual([
      ['arch', 'architect'],
      ['dev1', 'developer'],
      ['dev2', 'developer'],
      ['other', null],
      ['qa', 'qa'],
    ]);
  } finally {
    await before.close();
    await database.drop();
  }
});
