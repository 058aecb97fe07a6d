import type { EntityManager } from 'typeorm';
import { type Answer, openTestApp, type TestApp } from './app.ts';
import { awayFromMidnight, inDays } from './machine/midnight.ts';

interface Given {
  service: TestApp;
  token: string;
  /** The id of a project that is created for each test. */
  project: string;
  /** Calls the service as the owner of the project. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  sql: EntityManager['query'];
  makeTask(body?: object): Promise<Answer['body']>;
  /** Creates a sprint from today on. */
  makeSprint(body?: object): Promise<Answer['body']>;
}

/** Opens a service with a model for the tests of one file, and a project for each of them. */
export function openSprints(): Given {
  const given = {} as Given;
  beforeAll(async () => {
    await awayFromMidnight();
    given.service = await openTestApp({ OPENAI_API_KEY: 'sk-x', OPENAI_MODEL: 'm' });
    given.token = await given.service.token('octocat');
  });
  afterAll(() => given.service.close());
  beforeEach(async () => {
    given.project = (await given.call('POST', '/projects', { name: 'P' })).body.id;
  });
  given.call = (method, path, body) =>
    given.service.call(method, path, { token: given.token, ...(body === undefined ? {} : { body }) });
  given.sql = (text, values = []) => given.service.app.db.manager.query(text, values);
  given.makeTask = async (body = {}) =>
    (await given.call('POST', `/projects/${given.project}/tasks`, { title: 't', ...body })).body;
  given.makeSprint = async (body = {}) => {
    const sprint = { name: 'S', startDate: inDays(0), endDate: inDays(9), ...body };
    return (await given.call('POST', `/projects/${given.project}/sprints`, sprint)).body;
  };
  return given;
}
