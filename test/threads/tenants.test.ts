import { currentTenant } from '../../src/threads/tenant.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
beforeAll(async () => {
  service = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true' });
});
afterAll(() => service.close());

test('what a request does in threads counts for its user', async () => {
  const token = await service.token('ada');
  const make = async (path: string, body: object) => (await service.call('POST', path, { token, body })).body.id;
  const projectId = await make('/projects', { name: 'P' });
  const id = await make('/repositories', { projectId, name: 'app', url: 'https://127.0.0.1:1/o/r' });
  const tenants: unknown[] = [];
  service.app.git.listBranches = async () => {
    tenants.push(currentTenant());
    return new Map();
  };
  expect((await service.call('POST', `/repositories/${id}/validate`, { token })).status).toBe(200);
  expect(tenants).toEqual([(await service.call('GET', '/me', { token })).body.id]);
});
