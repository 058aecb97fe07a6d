import jwt from 'jsonwebtoken';
import { readPaths } from '../../bench/scale/reads.ts';
import { methodsWithBody } from '../../src/http/route.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { type Everything, guarded, makeEverything, named } from '../support/everything.ts';
import { isThorough } from '../support/thorough.ts';

let service: TestApp;
let world: Everything;
let owner: string;
let stranger: string;

beforeAll(async () => {
  service = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true', RATE_LIMIT_MODEL: '0' });
  world = await makeEverything(service);
  owner = world.owner;
  stranger = await service.token('stranger');
});
afterAll(() => service.close());

const addressed = guarded.filter(([, r]) => /:/.test(r.path) && r.access.names !== undefined);
/** Without the routes that create what their path names. */
const toExisting = addressed.filter(([, r]) => !(r.method === 'put' && r.path.endsWith('/:name')));
const withBody = guarded.filter(([, r]) => methodsWithBody.includes(r.method));

const forged = () => {
  const claims = { sub: 'user_1', jti: 'tok_1' };
  const good = { issuer: 'http://localhost:3000', audience: 'api', expiresIn: 60 } as const;
  const secret = service.app.keys.jwtSecret;
  return {
    nonsense: 'nonsense',
    'nine kilobytes': 'x'.repeat(9000),
    'no algorithm': `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${Buffer.from(JSON.stringify({ ...claims, iss: good.issuer, aud: 'api' })).toString('base64url')}.`,
    'another secret': jwt.sign(claims, 'another secret of thirty-two characters', good),
    'another algorithm': jwt.sign(claims, secret, { ...good, algorithm: 'HS512' }),
    'another audience': jwt.sign(claims, secret, { ...good, audience: 'web' }),
    'another issuer': jwt.sign(claims, secret, { ...good, issuer: 'http://evil' }),
    expired: jwt.sign(claims, secret, { ...good, expiresIn: -1 }),
    'a token without a row in the database': jwt.sign(claims, secret, good),
    'not yet valid': jwt.sign({ ...claims, nbf: Math.floor(Date.now() / 1000) + 3600 }, secret, good),
    'a key id that is a path': jwt.sign(claims, '0', { ...good, keyid: '../../../../dev/null' }),
    'a key id that is SQL': jwt.sign(claims, 'x', { ...good, keyid: "' union select 'x" }),
    'another signing key': jwt.sign(claims, 'mine', {
      ...good,
      header: { alg: 'HS256', jwk: { kty: 'oct', k: Buffer.from('mine').toString('base64url') } } as never,
    }),
    'a public key as the secret': jwt.sign(claims, service.app.keys.jwtSecret.slice(1), good),
    'a signature cut off': jwt.sign(claims, secret, good).split('.').slice(0, 2).join('.'),
    'no id': jwt.sign({ sub: 'user_1' }, secret, good),
    'an id with NUL': jwt.sign({ sub: 'user_1', jti: 'tok\0' }, secret, good),
  };
};

async function expectUnauthorized(route: (typeof guarded)[number][1], token?: string): Promise<void> {
  const answer = await service.call(
    route.method.toUpperCase(),
    world.pathOf(route),
    token === undefined ? {} : { token },
  );
  expect(answer.status).toBe(401);
  expect(answer.body).toEqual({ statusCode: 401, message: 'Unauthorized' });
}

test.each(guarded)('%s without a good token is 401', async (_name, route) => {
  const { 'another secret': forgery, 'a token without a row in the database': revoked } = forged();
  for (const token of [undefined, forgery, revoked]) await expectUnauthorized(route, token);
});

// All routes check a token in one place, so the other forgeries are tried on one route of each kind.
const oneOfEachKind = [...new Map(guarded.map((each) => [`${each[1].method} ${each[1].access.kind}`, each])).values()];
test.each(oneOfEachKind)('%s with a forged token is 401', async (_name, route) => {
  for (const token of Object.values(forged())) await expectUnauthorized(route, token);
});

test.each(addressed)('%s for a stranger is 403 or 404', async (_name, route) => {
  const answer = await service.call(route.method.toUpperCase(), world.pathOf(route), { token: stranger });
  expect(answer.status).toBe(route.access.kind === 'project' ? 403 : 404);
  if (answer.status === 403) expect(answer.body.message).toBe(`User is not a member of project ${world.ids.projectId}`);
});

test.each(toExisting)('%s of an unknown or odd id is 404', async (_name, route) => {
  // If there are two parameters, test the last one: the first is the project, which other routes test.
  const ids = ['task_01h455vb4pex5vsknk084sn02q', 'a\0b', "' or 1=1 --", '%', 'x'.repeat(10_000)];
  for (const id of isThorough ? ids : ids.slice(0, 2)) {
    const answer = await service.call(route.method.toUpperCase(), world.pathOf(route, id), { token: owner });
    expect([answer.status, answer.body.statusCode]).toEqual([404, 404]);
  }
});

test.each(withBody)('%s refuses what it does not know', async (_name, route) => {
  const call = (body: unknown, headers = {}) =>
    service.call(route.method.toUpperCase(), world.pathOf(route), { token: owner, body, headers });
  const bodies = [{ surprise: 1 }, '{"__proto__":{"x":1},"surprise":1}', [], 7, '"text"', 'null'];
  for (const body of isThorough ? bodies : bodies.slice(0, 3)) {
    // A list is the right body for a route that replaces one.
    if (Array.isArray(body) && route.body?.safeParse(body).success) continue;
    const answer = await call(body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors.length).toBeGreaterThan(0);
    expect(answer.body.message).toBe(answer.body.errors.map((e: { message: string }) => e.message).join('; '));
  }
  // All routes read bodies in one place.
  if (!isThorough && route !== withBody[0]?.[1]) return;
  expect((await call('{"broken')).status).toBe(400);
  expect((await call('{}', { 'Content-Type': 'text/plain' })).status).toBe(415);
  expect((await call(JSON.stringify({ title: 'x'.repeat(1_500_000) }))).status).toBe(413);
});

test('with an invalid body and a dead token, the token is reported', async () => {
  const answer = await service.call('POST', '/projects', {
    token: forged()['a token without a row in the database'],
    body: '{"broken',
  });
  expect(answer.status).toBe(401);
});

test('unknown addresses are 404 and other methods 405, before a token is required', async () => {
  expect((await service.call('GET', '/nothing')).status).toBe(404);
  const answer = await service.call('DELETE', '/me');
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('GET');
  expect((await service.call('GET', '/tasks/%E0%A4%A')).status).toBe(404);
});

test('the routes are exactly those of the contract', () => {
  const built = `GET /batch;GET /me;GET /me/inbox;POST /me/inbox/:taskId/snooze;DELETE /me/inbox/:taskId/snooze;GET /me/sessions;GET /me/unassigned-secrets;GET /me/notices;PATCH /me/notices;POST /me/notices/confirmation;GET /me/tokens;POST /me/tokens;DELETE /me/tokens/:tokenId;GET /projects;POST /projects;GET /projects/:projectId;PATCH /projects/:projectId;
    DELETE /projects/:projectId;GET /projects/:projectId/onboarding;GET /projects/:projectId/runs;GET /projects/:projectId/installed-repositories;
    GET /projects/:projectId/members;POST /projects/:projectId/members;
    PATCH /projects/:projectId/members/:userId;DELETE /projects/:projectId/members/:userId;
    POST /projects/:projectId/git-token;GET /projects/:projectId/git-token;DELETE /projects/:projectId/git-token;
    POST /projects/:projectId/model-token;GET /projects/:projectId/model-token;DELETE /projects/:projectId/model-token;
    GET /projects/:projectId/mcp-servers;PUT /projects/:projectId/mcp-servers;POST /projects/:projectId/mcp-servers/try;
    GET /projects/:projectId/webhooks;POST /projects/:projectId/webhooks;PATCH /projects/:projectId/webhooks/:webhookId;
    DELETE /projects/:projectId/webhooks/:webhookId;GET /projects/:projectId/webhooks/:webhookId/deliveries;
    POST /projects/:projectId/webhooks/:webhookId/deliveries/:deliveryId/redeliver;POST /projects/:projectId/webhooks/:webhookId/test;
    GET /projects/:projectId/environment-secrets;PUT /projects/:projectId/environment-secrets/:name;
    DELETE /projects/:projectId/environment-secrets/:name;
    POST /repositories;GET /repositories;GET /repositories/:id;GET /repositories/:id/branches;GET /repositories/:id/task-templates;PATCH /repositories/:id;DELETE /repositories/:id;
    GET /repositories/primary/:projectId;GET /repositories/docs/:projectId;POST /repositories/:id/validate;
    GET /repositories/:id/issues;POST /repositories/:id/issues;
    POST /repositories/:id/environment;GET /repositories/:id/environment;POST /repositories/:id/pulls/:number/review;
    GET /repositories/:id/review-examples;DELETE /repositories/:id/review-examples/:noteId;
    GET /repositories/:id/proofs;GET /repositories/:id/proof-figures;GET /repositories/:id/flaky;
    POST /repositories/:id/benchmark;GET /repositories/:id/benchmark;PATCH /repositories/:id/benchmark/items/:itemId;
    GET /agents;POST /agents;GET /agents/models;GET /agents/:id;PATCH /agents/:id;DELETE /agents/:id;GET /agents/teams;GET /agents/teams/:team;
    GET /agents/health/all;GET /agents/health/unhealthy;GET /agents/:id/health;POST /agents/:id/health/reset;
    GET /agents/:id/performance;GET /agents/:id/skills;GET /agents/:id/suggestions;GET /agents/:id/comparison;POST /agents/:id/evolve;
    POST /agents/:id/trials;GET /agents/:id/trials/estimate;GET /agents/:id/trials;GET /trials/:trialId;POST /trials/:trialId/cancel;GET /repositories/:id/portfolio;
    POST /agents/pool/reconcile;GET /agents/pool/reconciliations;
    POST /projects/:projectId/tasks;POST /projects/:projectId/tasks/bulk;GET /projects/:projectId/tasks;GET /projects/:projectId/stats;
    GET /projects/:projectId/board;GET /projects/:projectId/automations;POST /projects/:projectId/automations;GET /projects/:projectId/automations/trial;PATCH /projects/:projectId/automations/:automationId;DELETE /projects/:projectId/automations/:automationId;POST /projects/:projectId/automations/:automationId/run;GET /projects/:projectId/views;PUT /projects/:projectId/views/:name;DELETE /projects/:projectId/views/:name;
    GET /tasks/:id;PATCH /tasks/:id;DELETE /tasks/:id;GET /tasks/:id/subtasks;POST /tasks/:id/subtasks;GET /tasks/:id/diff;GET /tasks/:id/change;GET /tasks/:id/proof;GET /tasks/:id/quote;GET /tasks/:id/undo;POST /tasks/:id/undo;GET /tasks/:id/timeline;GET /tasks/:id/review-comments;GET /tasks/:id/merge-readiness;GET /tasks/:id/other-work;GET /tasks/:id/collisions;GET /tasks/:id/handoffs;GET /tasks/:id/prs;
    POST /tasks/:id/start;POST /tasks/:id/retry;POST /tasks/:id/revise;POST /tasks/:id/cancel;POST /tasks/:id/merge;DELETE /tasks/:id/merge;
    POST /tasks/:id/approve;POST /tasks/:id/answer;POST /tasks/:id/say;POST /tasks/:id/pause;POST /tasks/:id/resume;POST /tasks/:id/rewind;
    GET /tasks/:id/runs;GET /runs/:runId;GET /runs/:runId/receipts;GET /receipts;GET /runs/:runId/events;GET /runs/:runId/turns;POST /projects/:projectId/sprints;GET /projects/:projectId/sprints;GET /projects/:projectId/sprints/active;GET /projects/:projectId/velocity;GET /projects/:projectId/backlog;GET /sprints/:sprintId;PATCH /sprints/:sprintId;DELETE /sprints/:sprintId;POST /sprints/:sprintId/start;POST /sprints/:sprintId/complete;POST /sprints/:sprintId/cancel;GET /sprints/:sprintId/tasks;POST /sprints/:sprintId/tasks;POST /sprints/:sprintId/tasks/bulk;DELETE /sprints/:sprintId/tasks/:taskId;GET /sprints/:sprintId/metrics;GET /sprints/:sprintId/burndown;GET /sprints/:sprintId/digest;GET /projects/:projectId/events;GET /projects/:projectId/audit;GET /projects/:projectId/spend;GET /projects/:projectId/quotes;GET /tasks/:id/chat;POST /tasks/:id/chat;GET /sprints/:sprintId/chat;POST /sprints/:sprintId/chat-with-dev-lead;POST /projects/:projectId/wizard/initialize;POST /projects/:projectId/wizard/generate-prd;POST /projects/:projectId/wizard/generate-plan;POST /projects/:projectId/wizard/generate-tasks;POST /projects/:projectId/wizard/create-sprint;POST /projects/:projectId/wizard/:sessionId/answer;POST /projects/:projectId/wizard/:sessionId/finalize;GET /projects/:projectId/wizard/:sessionId;GET /projects/:projectId/wizard/:sessionId/editing;
    GET /projects/:projectId/wizard;PATCH /projects/:projectId/wizard/:sessionId;DELETE /projects/:projectId/wizard/:sessionId`;
  expect(named.map(([name]) => name).sort()).toEqual(
    built
      .split(';')
      .map((s) => s.trim())
      .sort(),
  );
});

test('every operation has a unique name of a verb and an object', () => {
  const names = named.map(([, r]) => r.operationId);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(names.filter((name) => !/^[a-z]+([A-Z][a-z]+)+$/.test(name))).toEqual([]);
});

test('the bench of reads in large databases has an object for each id in the path of a read', () => {
  expect(readPaths().filter((path) => path.split('?')[0]?.includes(':'))).toEqual([]);
});
