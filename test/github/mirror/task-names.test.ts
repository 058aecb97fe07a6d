import { findTaskNames, withTaskNames } from '../../../src/github/mirror/task-names.ts';
import { openProject } from '../../support/project.ts';

const { service, call, project, createProject } = await openProject();
const makeTask = async (title: string, projectId = project): Promise<string> =>
  (await call('POST', `/projects/${projectId}/tasks`, { title })).body.id;
const connect = async (name: string): Promise<string> =>
  (await call('POST', '/repositories', { projectId: project, name, url: `https://github.com/o/${name}` })).body.id;

test('a refusal names tasks by their issues, by their titles in private repositories only, and unknown tasks by their ids', async () => {
  const [here, elsewhere] = [await connect('here'), await connect('elsewhere')];
  const [own, other, untitled] = [await makeTask('Own'), await makeTask('Other @octocat'), await makeTask('Plain')];
  const alien = await makeTask('Alien', await createProject());
  const unknown = `task_${'0'.repeat(26)}`;
  const place = (id: string, repository: string, number: number) =>
    service.app.db.manager.query('update tasks set issue_repository_id = $2, issue_number = $3 where id = $1', [
      id,
      repository,
      number,
    ]);
  await place(own, here, 12);
  await place(other, elsewhere, 13);
  const text = `It waits for ${own}, ${other}, ${untitled}, ${alien} and ${unknown}.`;
  const shown = async (isPrivate: boolean) =>
    withTaskNames(text, await findTaskNames(service.app, project, { id: here, isPrivate }, text));
  expect(await shown(true)).toMatch(/^It waits for #12, “Other @\S+”, “Plain”, task_/);
  expect(await shown(true)).not.toContain('@octocat');
  expect(await shown(false)).toBe(`It waits for #12, another task, another task, ${alien} and ${unknown}.`);
});
