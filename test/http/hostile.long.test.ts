import fc from 'fast-check';
import type { z } from 'zod';
import { openapiDocument } from '../../src/http/documents/openapi.ts';
import type { Route } from '../../src/http/route.ts';
import { routes } from '../../src/routes.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { type Everything, guarded, makeEverything, rowsOf } from '../support/everything.ts';
import { isThorough } from '../support/thorough.ts';

let service: TestApp;
let mine: Everything;
let theirs: Everything;

beforeAll(async () => {
  service = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true', RATE_LIMIT_MODEL: '0' });
  mine = await makeEverything(service, 'owner');
  theirs = await makeEverything(service, 'other');
});
afterAll(() => service.close());

const document = openapiDocument(routes, '') as {
  paths: Record<
    string,
    Record<string, { requestBody?: { content: { 'application/json': { example: Record<string, unknown> } } } }>
  >;
};
/** Returns a valid body for the route, from its documentation, with invented ids. */
function exampleOf({ path, method }: Route): Record<string, unknown> {
  const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method];
  return structuredClone(operation?.requestBody?.content['application/json'].example ?? {});
}

const withBody = guarded.filter(([, r]) => r.body !== undefined);
const paged = guarded.filter(([, r]) => r.paged);

/**
 * The fields of bodies that refer to an object of a project, each with a function that returns such an id from another
 * project.
 */
const references: Record<string, () => unknown> = {
  owner: () => theirs.ids.agent,
  responsible: () => theirs.ids.userId,
  dependsOn: () => [theirs.ids.task],
  repositoryId: () => theirs.ids.repository,
  runId: () => theirs.ids.runId,
  taskId: () => theirs.ids.task,
  taskIds: () => [theirs.ids.task],
  sprintId: () => theirs.ids.sprintId,
  unfinished: () => theirs.ids.sprintId,
};
const referring = withBody.flatMap(([name, route]) =>
  Object.keys(references)
    .filter((field) => field in exampleOf(route))
    .map((field) => [name, field, route] as const),
);

test.each(referring)('%s does not take %s of another project', async (_name, field, route) => {
  const body = exampleOf(route);
  for (const key of Object.keys(body)) if (key in references) delete body[key];
  if ('projectId' in body) body.projectId = mine.ids.projectId;
  const ask = (given: unknown) =>
    service.call(route.method.toUpperCase(), mine.pathOf(route), {
      token: mine.owner,
      body: { ...body, [field]: given },
    });
  const before = await rowsOf(service, ['api_tokens']);
  for (const given of [references[field]?.(), Array.isArray(references[field]?.()) ? ['nobody_1'] : 'nobody_1']) {
    const answer = await ask(given);
    expect([answer.status, answer.body.errors?.[0]?.path]).toEqual([400, expect.stringContaining(field)]);
  }
  expect(await rowsOf(service, ['api_tokens'])).toEqual(before);
});

test('every field that accepts an id is tested with ids of another project', () => {
  expect(referring.map(([name, field]) => `${name} ${field}`)).toEqual(
    expect.arrayContaining(['POST /projects/:projectId/tasks owner', 'PATCH /tasks/:id dependsOn']),
  );
});

test.each(paged)('%s: pages end where they are said to end', async (_name, route) => {
  const required = route.path === '/receipts' ? 'pullRequest=https%3A%2F%2Fgithub.com%2Fo%2Fr%2Fpull%2F1&' : '';
  const status = async (query: string) =>
    (await service.call('GET', `${mine.pathOf(route)}?${required}${query}`, { token: mine.owner })).status;
  for (const good of ['limit=1', 'limit=100', 'offset=0', 'offset=999999999', 'limit=20&offset=5'])
    expect([good, await status(good)]).toEqual([good, 200]);
  for (const bad of ['limit=0', 'limit=101', 'limit=-1', 'limit=1.5', 'limit=1e1', 'limit=', 'limit=ten', 'limit=%00'])
    expect([bad, await status(bad)]).toEqual([bad, 400]);
  for (const bad of ['offset=-1', 'offset=99999999999', 'offset=x', 'limit=1&limit=2', 'limit[]=1', 'Limit=1'])
    expect([bad, await status(bad)]).toEqual([bad, 400]);
});

const kept = ['api_tokens', 'idempotency_keys'];

/** Values to try in each field: any JSON, and values that often break programs. */
const odd = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(null, '', ' ', '\0', 'a\0b', '\ud800', "' or 1=1 --", '../../etc/passwd', '{{7*7}}', -0),
  fc.constantFrom<unknown>(
    Number.MAX_SAFE_INTEGER,
    1e308,
    [],
    [[]],
    {},
    true,
    'x'.repeat(60_000),
    Array(101).fill('x'),
  ),
);
const change = fc.record({ at: fc.nat(), value: odd, how: fc.constantFrom('replace', 'remove', 'add', 'pollute') });

function changed(
  body: Record<string, unknown>,
  { at, value, how }: { at: number; value: unknown; how: string },
): string {
  const keys = Object.keys(body);
  const key = keys[at % Math.max(1, keys.length)] ?? 'x';
  if (how === 'remove') delete body[key];
  else if (how === 'add') body[`surprise${at % 7}`] = value;
  else if (how === 'replace') body[key] = value;
  const text = JSON.stringify(body);
  return how === 'pollute'
    ? text.replace(/^\{/, `{"__proto__":{"isAdmin":true},"constructor":{"prototype":{}},`)
    : text;
}

// A changed body may set a model token. With it, every chat would try to reach a model and wait for its retries.
afterEach(() => service.call('DELETE', `/projects/${mine.ids.projectId}/model-token`, { token: mine.owner }));

const withQuery = guarded.filter(([, r]) => r.method === 'get' && r.query !== undefined && !r.isStream);

test.each(withQuery)('%s: a NUL character in the query is never a 500', async (_name, route) => {
  for (const field of Object.keys((route.query as z.ZodObject).shape)) {
    const { status } = await service.call('GET', `${mine.pathOf(route)}?${field}=%00`, { token: mine.owner });
    expect([field, status < 500 || status === 502]).toEqual([field, true]);
  }
});

test.each(withBody)('%s: a changed body is never a 500, and refused it changes nothing', async (_name, route) => {
  await fc.assert(
    fc.asyncProperty(change, async (how) => {
      const before = await rowsOf(service, kept);
      const body = exampleOf(route);
      if ('projectId' in body) body.projectId = mine.ids.projectId;
      const answer = await service.call(route.method.toUpperCase(), mine.pathOf(route), {
        token: mine.owner,
        body: changed(body, how).replace(/,\}$/, '}'),
      });
      expect([200, 201, 204, 400, 404, 409, 503]).toContain(answer.status);
      if (answer.status < 400) return;
      expect(answer.body).toMatchObject({ statusCode: answer.status, message: expect.any(String) });
      expect(answer.body.message).not.toMatch(/\bat .+:\d+:\d+|node_modules|ZodError/);
      expect(await rowsOf(service, kept)).toEqual(before);
    }),
    { numRuns: isThorough ? 15 : 5 },
  );
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
});
