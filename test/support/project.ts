import { openTestApp } from './app.ts';
import { openEventStream } from './http/event-stream.ts';

/** Call it once in a test file: opens the service with a project of octocat. */
export async function openProject() {
  const service = await openTestApp();
  afterAll(() => service.close());
  const token = await service.token('octocat');
  const call = (method: string, path: string, body?: unknown, as = token) =>
    service.call(method, path, { token: as, body });
  const createProject = async (): Promise<string> => (await call('POST', '/projects', { name: 'P' })).body.id;
  return {
    service,
    token,
    call,
    project: await createProject(),
    createProject,
    /** Opens a stream as octocat, or with another token. */
    listen: (path: string, headers: Record<string, string> = {}, as = token) =>
      openEventStream(`${service.url}/api/v1${path}`, as, headers),
  };
}
