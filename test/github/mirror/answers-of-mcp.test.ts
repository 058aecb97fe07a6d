import { syncTask } from '../../../src/github/mirror/sync.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { asked } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const words = 'Two tickets are about ink.';

test('a public repository shows no words of a task that reads, over others, what an MCP server answered', async () => {
  const { em, call, own, projectId, task } = await acme.twoPeople();
  await em.query('update repositories set is_private = false where id = $1', [own.id]);
  const far = await task('ada');
  const made = async (dependsOn: string[]): Promise<string> => {
    const body = { title: 't', repositoryId: own.id, dependsOn };
    return (await call('ada', 'POST', `/projects/${projectId}/tasks`, body)).body.id;
  };
  const near = await made([await made([far])]);
  await em.query(`update tasks set issue_repository_id = $2, issue_number = 8, status = 'in_review' where id = $1`, [
    near,
    own.id,
  ]);
  const run = (id: string, taskId: string) =>
    em.query(
      `insert into runs (id, task_id, project_id, agent_id, kind, status)
       values ($1, $2, $3, (select owner from tasks where id = $4), 'start', 'succeeded')`,
      [id, taskId, projectId, far],
    );
  await run('run_far', far);
  await run('run_near', near);
  await em.query(
    `insert into handoffs (id, task_id, run_id, summary, next_steps) values ('handoff_1', $1, 'run_near', $2, '[]')`,
    [near, words],
  );
  const comment = async () => {
    asked.length = 0;
    await syncTask(acme.service.app, { taskId: near, recheck: true });
    return asked
      .filter(({ path }) => /comments/.test(path))
      .map(({ body }) => body.body)
      .join();
  };
  expect(await comment()).toContain(words);
  await em.query(
    `insert into run_events (run_id, type, text, data, at) values ('run_far', 'mcp', 'x', '{"ok":true}', now())`,
  );
  const hidden = await comment();
  expect(hidden).toContain('<!-- deckhand');
  expect(hidden).not.toContain(words);
  await em.query('update repositories set is_private = true where id = $1', [own.id]);
  expect(await comment()).toContain(words);
});
