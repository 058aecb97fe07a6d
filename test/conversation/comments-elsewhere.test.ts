import type { AboutRun } from '../../src/conversation/about-run.ts';
import { readThread } from '../../src/conversation/briefing/comments.ts';
import { findRepository } from '../../src/repositories/store.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { type FakeGitHub, openFakeGitHub } from '../support/stand-ins/fake-github.ts';

const mona = { id: 101, login: 'mona', type: 'User' };
let github: FakeGitHub;
let service: TestApp;
let token: string;
const call = (method: string, path: string, body: unknown) => service.call(method, path, { token, body });

beforeAll(async () => {
  const comment = { id: 1, node_id: 'IC_1', user: mona, created_at: '2026-01-01T00:00:00Z', body: 'Open the door.' };
  github = await openFakeGitHub([
    [/^GET \/repos\/octocat\/(ideas|code)$/, ([, name]) => ({ id: name === 'ideas' ? 1 : 2, private: false })],
    [/^GET \/repos\/octocat\/ideas\/issues\/7\/comments/, () => [comment]],
    [/^POST \/graphql$/, () => ({ data: { nodes: [{ id: 'IC_1', lastEditedAt: null, editor: null }] } })],
    [/\/ideas\/collaborators\/mona\/permission$/, () => ({ permission: 'write', role_name: 'write', user: mona })],
  ]);
  service = await openTestApp({ GITHUB_SERVER_URL: github.url, GITHUB_API_URL: github.url });
  token = await service.token('octocat');
});
afterAll(async () => {
  await service.close();
  github.close();
});

test('without an installation, comments from another repository direct a run only if their authors are members', async () => {
  const project = (await call('POST', '/projects', { name: 'P' })).body.id;
  await call('POST', `/projects/${project}/git-token`, { token: 'ghp_of_the_project' });
  const connect = async (name: string) => {
    const url = `${github.url}/octocat/${name}`;
    const { id } = (await call('POST', '/repositories', { projectId: project, name, url })).body;
    const found = await findRepository(service.app.db.manager, id);
    if (found === null) throw new Error('the repository was not connected');
    return found;
  };
  const [ideas, code] = [await connect('ideas'), await connect('code')];
  const admitted: number[] = [];
  const admit = async (people: { id: number }[]) => {
    admitted.push(...people.map(({ id }) => id));
    return new Set(people.map(({ id }) => id));
  };
  const read = async (repository: typeof code) => {
    const work = { repository, credential: { kind: 'none' }, admit } as unknown as AboutRun;
    const { comments } = await readThread(service.app, { where: 'issue', repository: ideas, number: 7 }, work);
    return comments.map(({ author, isByWriter }) => [author, isByWriter]);
  };
  expect(await read(ideas)).toEqual([['mona', true]]);
  expect(admitted.splice(0)).toEqual([101]);
  expect(await read(code)).toEqual([['mona', false]]);
  expect(admitted).toEqual([]);
  await call('POST', `/projects/${project}/members`, { login: 'mona' });
  expect(await read(code)).toEqual([['mona', true]]);
});
