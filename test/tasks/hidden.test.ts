import { openTestApp, type TestApp } from '../support/app.ts';
import { inDays } from '../support/machine/midnight.ts';

let service: TestApp;
beforeAll(async () => {
  service = await openTestApp();
});
afterAll(() => service.close());

test('a task that stands for reviews of a pull request cannot be changed, deleted, split, or used by others', async () => {
  const token = await service.token('octocat');
  const call = (method: string, path: string, body?: object) =>
    service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  const { body: project } = await call('POST', '/projects', { name: 'P' });
  const tasks = `/projects/${project.id}/tasks`;
  const { body: task } = await call('POST', tasks, { title: '#1 Theirs' });
  const { body: other } = await call('POST', tasks, { title: 'Ours' });
  const dates = { startDate: inDays(0), endDate: inDays(9) };
  const { body: sprint } = await call('POST', `/projects/${project.id}/sprints`, { name: 'S', ...dates });
  await service.app.db.manager.query('update tasks set hidden = true where id = $1', [task.id]);

  const own = `/tasks/${task.id}`;
  const refusals = [
    await call('PATCH', own, { title: 'Else' }),
    await call('DELETE', own),
    await call('POST', `${own}/subtasks`, { title: 'Part' }),
  ];
  for (const { status, body } of refusals) {
    expect(status).toBe(409);
    expect(JSON.stringify(body)).toContain('stands for reviews of a pull request');
  }
  const unknown = [
    await call('POST', `/sprints/${sprint.id}/tasks/bulk`, { taskIds: [task.id] }),
    await call('PATCH', `/tasks/${other.id}`, { dependsOn: [task.id] }),
  ];
  expect(unknown.map(({ status }) => status)).toEqual([400, 400]);
  expect((await call('GET', own)).body).toMatchObject({ title: '#1 Theirs', sprintId: null });
  for (const list of [tasks, `/projects/${project.id}/backlog`])
    expect((await call('GET', list)).body.map(({ title }: { title: string }) => title)).toEqual(['Ours']);
});
