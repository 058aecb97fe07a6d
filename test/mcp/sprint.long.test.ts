import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { ModelRequest, Said } from '../../demo/model/model.ts';
import { until } from '../../demo/real-service.ts';
import { call, overMcp } from '../support/http/mcp-client.ts';
import { awayFromMidnight, inDays } from '../support/machine/midnight.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
/** Each task writes a file of its own. */
function says(request: ModelRequest, turn: number): Said {
  const title = /# Task: (.+)/.exec(JSON.stringify(request.messages).replaceAll('\\n', '\n'))?.[1]?.trim() ?? 'x';
  if (turn === 0) return [{ name: 'write_file', arguments: { path: `${title}.txt`, content: `${title}\n` } }];
  return [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }];
}
beforeAll(async () => {
  world = await openWorld(says, { settings: { MAX_CONCURRENT_RUNS: '2', SANDBOX: 'off' } });
});
afterAll(() => world.close());

type Shown = { id: string; title: string; status: string };
/** Calls a tool and returns its structured result. @throws Error with what the tool says */
async function use<T>(client: Client, name: string, args: Record<string, unknown> = {}): Promise<T> {
  const { isError, content, structuredContent } = await call(client, name, args);
  if (isError) throw new Error(`${name}: ${JSON.stringify(content)}`);
  return structuredContent as T;
}

test('a model works a sprint with tools alone: it plans, starts, reviews, merges and ends it', async () => {
  await awayFromMidnight();
  const connection = {
    url: world.service.url,
    token: world.token,
    query: '?toolsets=projects,agents,tasks,runs,inbox,sprints',
  };
  await overMcp(connection, async (client) => {
    await client.listTools();
    const projects = await use<{ items: { id: string }[] }>(client, 'listProjects');
    const projectId = projects.items[0]?.id ?? '';
    const agents = await use<{ items: { id: string; name: string }[] }>(client, 'listAgents', { projectId });
    const owner = agents.items.find(({ name }) => name === 'Developer')?.id;
    const make = (title: string, dependsOn: string[]) =>
      use<Shown>(client, 'createTask', { projectId, title, owner, dependsOn });
    const first = await make('One', []);
    const second = await make('Two', [first.id]);
    const sprint = await use<{ id: string }>(client, 'createSprint', {
      projectId,
      name: 'By tools',
      startDate: inDays(0),
      endDate: inDays(7),
    });
    const sprintId = sprint.id;
    await use(client, 'addSprintTasks', { sprintId, taskIds: [first.id, second.id] });
    await use(client, 'startSprint', { sprintId });
    for (const { id, title } of [first, second]) {
      await until(
        `${title} in review`,
        async () => (await use<Shown>(client, 'getTask', { id })).status === 'in_review',
      );
      expect(await use(client, 'getTaskChange', { id })).toMatchObject({ files: 1 });
      expect(await use(client, 'getTaskDiff', { id })).toMatchObject({ files: [{ path: `${title}.txt` }] });
      const waiting = await use<{ items: { taskId: string }[] }>(client, 'listInbox');
      expect(waiting.items.map(({ taskId }) => taskId)).toEqual([id]);
      await use(client, 'mergeTask', { id });
      await until(`${title} is done`, async () => (await use<Shown>(client, 'getTask', { id })).status === 'done');
    }
    await until('the end of the sprint', async () => {
      const { status } = await use<{ status: string }>(client, 'getSprint', { sprintId });
      return status === 'completed' || (await use(client, 'completeSprint', { sprintId }));
    });
    expect(await use(client, 'getSprint', { sprintId })).toMatchObject({ status: 'completed' });
  });
  const made = await world.sql<{ via: string }>(
    `select distinct via from audit_records where action in ('task.create', 'sprint.start', 'task.merge')`,
    [],
  );
  expect(made.map(({ via }) => via)).toEqual(['mcp']);
});
