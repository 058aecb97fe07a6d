import { readFileSync } from 'node:fs';
import { IdText, type Route } from '../../../src/http/route.ts';
import { storeBenchmark } from '../../support/audit/benchmark-rows.ts';
import { openWorkshop, type Workshop } from '../../support/audit/workshop.ts';
import { writeRecipes } from '../../support/audit/write-recipes.ts';
import { guarded, makeTrial, rowsOf } from '../../support/everything.ts';

// What a request names besides the object that its access rule checks: for each such field, things of the same project, of
// another project of the caller, and of a project that the caller does not know.

const file = new URL('../../fixtures/references.txt', import.meta.url);
const table = new Map(
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^(GET|POST|PUT|PATCH|DELETE) /.test(line))
    .map((line) => {
      const [method, path, field = '', ...wanted] = line.trim().split(/ +/);
      return [`${method} ${path} ${field}`, wanted] as const;
    }),
);

interface Schema {
  def?: {
    checks?: unknown[];
    shape?: object;
    element?: unknown;
    innerType?: unknown;
    in?: unknown;
    out?: unknown;
    options?: unknown[];
  };
}

/** Returns the fields of a schema that name something by its id. */
function idFields(schema: unknown, at = ''): string[] {
  const { def } = (schema ?? {}) as Schema;
  // A description makes a copy of a schema, which keeps its checks.
  if (def?.checks !== undefined && def.checks.at(-1) === (IdText as Schema).def?.checks?.at(-1)) return [at];
  if (def === undefined) return [];
  const fields = Object.entries(def.shape ?? {}).map(
    ([key, each]) => [at === '' ? key : `${at}.${key}`, each] as const,
  );
  const inside = [def.innerType, def.in, def.out, ...(def.options ?? [])].map((each) => [at, each] as const);
  const all = [...fields, ...inside, [`${at}[]`, def.element] as const];
  return [...new Set(all.flatMap(([path, each]) => (each === undefined ? [] : idFields(each, path))))];
}

/** The references of a route, without what its access rule checks. */
function referencesOf(route: Route): string[] {
  const params = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  const named = params.filter((name) => name !== route.access.names).map((name) => `:${name}`);
  const inside = [...idFields(route.body), ...idFields(route.query).map((field) => `?${field}`)];
  return [...named, ...inside.filter((field) => !/^\??projectId$/.test(field))];
}

const references = guarded.flatMap(([name, route]) =>
  route.access.kind === 'user' ? [] : referencesOf(route).map((field) => [`${name} ${field}`, route, field] as const),
);

test('the table lists exactly the existing references', () => {
  expect([...table.keys()].sort()).toEqual(references.map(([name]) => name).sort());
});

let shop: Workshop;
let stranger: string;
beforeAll(async () => {
  shop = await openWorkshop();
  stranger = await shop.service.token('stranger');
});
afterAll(() => shop.close());

type Kind =
  | 'agent'
  | 'task'
  | 'repository'
  | 'sprint'
  | 'session'
  | 'user'
  | 'run'
  | 'secret'
  | 'view'
  | 'automation'
  | 'note'
  | 'item'
  | 'webhook'
  | 'delivery'
  | 'trial';

function kindOf(field: string, { path }: Route): Kind {
  const name = /(\w+)(\[\])?$/.exec(field)?.[1] ?? '';
  if (name === 'name') return path.includes('/views/') ? 'view' : 'secret';
  const kinds: Record<string, Kind> = {
    ...{
      owner: 'agent',
      dependsOn: 'task',
      taskId: 'task',
      taskIds: 'task',
      near: 'task',
      userId: 'user',
      responsible: 'user',
    },
    ...{ repositoryId: 'repository', repositoryIds: 'repository', repositories: 'repository', sessionId: 'session' },
    ...{ sprintId: 'sprint', unfinished: 'sprint', runId: 'run', automationId: 'automation' },
    ...{ webhookId: 'webhook', deliveryId: 'delivery', noteId: 'note', itemId: 'item' },
    ...{ defaultAgentId: 'agent', against: 'agent', trial: 'trial' },
  };
  const kind = kinds[name];
  if (kind === undefined) throw new Error(`say in kindOf what ${field} of ${path} names`);
  return kind;
}

interface Made {
  id: string;
}

let count = 0;
/** Makes a thing in a new project of this person. Its name is in no other project. */
async function makeThing(kind: Kind, token: string, make = makeIn): Promise<string> {
  const post = async (method: string, path: string, body: object) => {
    const answer = await shop.service.call(method, path, { token, body });
    if (answer.status > 299) throw new Error(`${path} answered ${answer.status} ${answer.body.message}`);
    return answer.body as Made;
  };
  const { id: project } = await post('POST', '/projects', { name: 'Elsewhere' });
  return make(project, kind, token, post);
}

/** GitHub numbers people by the length and the first letter of their login here. */
const loginOf = (number: number) => String.fromCharCode(97 + (number % 26)) + 'x'.repeat(3 + Math.floor(number / 26));

type Post = (method: string, path: string, body: object) => Promise<Made>;

async function makeIn(project: string, kind: Kind, token: string, post: Post): Promise<string> {
  const at = `/projects/${project}`;
  const name = `${project === shop.project ? 'OWN' : 'ELSEWHERE'}_${++count}`;
  const task = async () => (await post('POST', `${at}/tasks`, { title: name })).id;
  const webhook = async () => {
    const url = 'https://hooks.example.com/deckhand';
    return (await post('POST', `${at}/webhooks`, { url, events: ['proof'] })).id;
  };
  const makers: Record<Kind, () => Promise<string>> = {
    task,
    agent: async () => (await shop.service.call('GET', `/agents?projectId=${project}`, { token })).body[0].id,
    repository: async () => {
      const url = `${shop.github.url}/a/${name}`;
      return (await post('POST', '/repositories', { projectId: project, name, url })).id;
    },
    sprint: async () =>
      (await post('POST', `${at}/sprints`, { name, startDate: '2026-01-01', endDate: '2026-01-14' })).id,
    session: async () =>
      ((await post('POST', `${at}/wizard/initialize`, { goal: name })) as never as { sessionId: string }).sessionId,
    user: async () =>
      (
        (await post('POST', `${at}/members`, { login: loginOf(count), role: 'member' })) as never as {
          userId: string;
        }
      ).userId,
    run: async () => {
      await shop.sql(
        `insert into runs (id, task_id, project_id, kind, status) values ($1, $2, $3, 'start', 'failed')`,
        [`run_${name}`, await task(), project],
      );
      return `run_${name}`;
    },
    note: async () => {
      const [runId, repositoryId] = [await makers.run(), await makers.repository()];
      await shop.sql(
        `insert into review_notes (id, run_id, repository_id, number, place, path, line, side, quote, severity, text, not_useful, not_useful_at)
         values ($1, $2, $3, 1, 0, 'a.js', 1, 'RIGHT', '', 'minor', 'A word.', 'resolved', now())`,
        [`note_${name}`, runId, repositoryId],
      );
      return `note_${name}`;
    },
    item: async () => {
      const [runId, taskId, repositoryId] = [await makers.run(), await makers.task(), await makers.repository()];
      await storeBenchmark(shop.sql, { repositoryId, taskId, runId, itemId: `item_${name}` });
      return `item_${name}`;
    },
    trial: async () => {
      const [agentId, repositoryId] = [await makers.agent(), await makers.repository()];
      await makeTrial(shop.service, { id: `trial_${name}`, repositoryId, agentId });
      return `trial_${name}`;
    },
    secret: async () => {
      await post('PUT', `${at}/environment-secrets/${name}`, { value: 'a value of a secret', repositories: [] });
      return name;
    },
    automation: async () => {
      const [owner, repositoryId] = [await makers.agent(), await makers.repository()];
      const body = { name, on: { cron: '0 3 * * *', timezone: 'UTC' }, task: { title: name, owner, repositoryId } };
      return (await post('POST', `${at}/automations`, body)).id;
    },
    webhook,
    delivery: async () => (await post('POST', `${at}/webhooks/${await webhook()}/test`, {})).id,
    view: async () => {
      await post('PUT', `${at}/views/${name}`, { query: '' });
      return name;
    },
  };
  return makers[kind]();
}

/** Makes a task that depends on another one, has an owner and perhaps a person, and is in a sprint. Returns what a list can be filtered by. */
async function makeLinked(project: string, kind: Kind, token: string, post: Post): Promise<string> {
  const [owner, sprintId] = [await makeIn(project, 'agent', token, post), await makeIn(project, 'sprint', token, post)];
  const other = await makeIn(project, 'task', token, post);
  const body = { title: 'Depends', owner, sprintId, dependsOn: [other] };
  const { id } = await post('POST', `/projects/${project}/tasks`, body);
  const linked: Partial<Record<Kind, string>> = { agent: owner, sprint: sprintId, task: id };
  const found = linked[kind] ?? (await makeIn(project, kind, token, post));
  if (kind === 'user') await post('PATCH', `/tasks/${id}`, { responsible: found });
  return found;
}

interface Request {
  path: string;
  query?: string;
  body?: unknown;
}

/** Requests of routes that change nothing, and of fields that the recipes leave out. */
async function requestOf(route: Route, field: string): Promise<Request> {
  const { project, newSession } = shop;
  const tasks = [{ ref: 'a', title: 'T' }];
  if (route.method === 'get' && route.path.includes(':webhookId')) {
    const { path = '' } = (await writeRecipes.redeliverWebhook?.(shop)) ?? {};
    return { path: path.replace(/[^/]+\/redeliver$/, '').slice(0, -1) };
  }
  if (route.method === 'get')
    return {
      path: route.path
        .replace(':id', shop.agent)
        .replace(':projectId', project)
        .replace(':sessionId', await newSession()),
    };
  const recipe = writeRecipes[route.operationId];
  if (recipe === undefined) throw new Error(`add a recipe for ${route.operationId} to write-recipes.ts`);
  if (!field.startsWith('tasks[]') || !['editWizard', 'finalizeWizard'].includes(route.operationId))
    return recipe(shop);
  const session = await newSession(['prd', 'plan', 'tasks']);
  const path = `/projects/${project}/wizard/${session}`;
  if (route.operationId === 'finalizeWizard') return { path: `${path}/finalize`, body: { tasks } };
  return { path, body: { tasks, updatedAt: (await shop.ask<{ updatedAt: string }>('GET', path)).updatedAt } };
}

/** Returns the request with this id in the field. */
function naming(route: Route, { path, query, body }: Request, field: string, id: string): Request {
  const at = route.path.split('/').indexOf(field);
  if (at >= 0) return { path: path.split('/').with(at, id).join('/'), ...(query ? { query } : {}), body };
  if (field.startsWith('?')) return { path, query: `?${field.slice(1)}=${id}`, body };
  const copy = structuredClone(body ?? {}) as Record<string, unknown>;
  put(copy, field, id);
  return { path, body: Array.isArray(body) ? Object.values(copy) : copy };
}

function put(into: Record<string, unknown>, field: string, id: string): void {
  const [, name = '', isList, , rest] = /^(\w*)(\[\])?(\.(.+))?$/.exec(field) ?? [];
  if (rest === undefined) into[name] = isList ? [id] : id;
  else if (name !== '' && isList === undefined) {
    into[name] ??= {};
    put(into[name] as Record<string, unknown>, rest, id);
  } else put((name === '' ? into : (into[name] as Record<string, unknown>[]))[0 as never] as never, rest, id);
}

/** Tables that say that somebody asked, and not what was changed. */
const ofAsking = ['api_tokens', 'idempotency_keys', 'read_marks', 'github_pace'];

/** Sends a request with this id in the field. Returns the reply without the id. */
async function outcome(route: Route, request: Request, field: string, id?: string): Promise<string> {
  const { path, query = '', body } = id === undefined ? request : naming(route, request, field, id);
  const answer = await shop.service.call(route.method.toUpperCase(), `${path}${query}`, {
    token: shop.token,
    ...(body === undefined ? {} : { body }),
  });
  const text = JSON.stringify(answer.body);
  if (answer.status > 499) throw new Error(text);
  if (answer.status > 299)
    return `${answer.status} ${id === undefined ? text : answer.body.message.replaceAll(id, '…')}`;
  const isDropped = field.endsWith('owner') && body !== undefined && !(await ownsTask(id));
  return isDropped ? 'dropped' : `${answer.status} ${text}`;
}

async function ownsTask(agent: string | undefined): Promise<boolean> {
  if (agent === undefined) return true;
  const found =
    'select 1 from tasks where owner = $1 union all select 1 from wizard_sessions where tasks::text like $2';
  return (await shop.sql(found, [agent, `%${agent}%`])).length > 0;
}

/** Returns the number of a reply, and whether a list in it is empty. */
function shortly(outcome: string): string {
  if (outcome === 'dropped') return outcome;
  return /^200 (\[\]|.*"tasks":\[\])/.test(outcome) ? 'empty' : outcome.slice(0, 3);
}

/** Finds the project that a path is about. */
async function projectOf(path: string): Promise<string> {
  const [id = ''] = /\b(proj|task|sprint|repo)_\w+/.exec(path) ?? [];
  const tables: Record<string, string> = { task: 'tasks', sprint: 'sprints', repo: 'repositories' };
  const from = tables[id.split('_')[0] ?? ''];
  if (from === undefined) return id === '' ? shop.project : id;
  const [row] = await shop.sql<{ project: string }>(`select project_id as project from ${from} where id = $1`, [id]);
  return row?.project ?? '';
}

/** Returns the id of a thing in the same project; undefined if the recipe names one already. */
async function ownId({ body }: Request, field: string, make: () => Promise<string>): Promise<string | undefined> {
  if (field.startsWith(':')) return undefined;
  const [top = ''] = field.split(/[.[]/);
  const isNamed = typeof body === 'object' && body !== null && Object.hasOwn(body, top) && !field.includes('.');
  return isNamed ? undefined : make();
}

test.each(references)('%s', async (name, route, field) => {
  const wanted = table.get(name) ?? [];
  // It is a name within the request or the object, not the id of an object.
  if (wanted[0] === 'local') return;
  const kind = kindOf(field, route);
  const isFilter = field.startsWith('?');
  const make = isFilter ? makeLinked : makeIn;
  const [shared, foreign] = [await makeThing(kind, shop.token, make), await makeThing(kind, stranger, make)];
  const inOwn = async ({ path }: Request) => make(await projectOf(path), kind, shop.token, shop.ask);
  // One request for all, because those that are refused change nothing.
  const isKept = wanted[1]?.startsWith('4') || route.method === 'get';
  const first = isKept ? await requestOf(route, field) : undefined;
  const next = async () => first ?? (await requestOf(route, field));
  const own = await next();
  const unknownId = kind === 'secret' || kind === 'view' ? 'NEVER_SET' : 'x_00000000000000000000000000';
  const before = await rowsOf(shop.service, ofAsking);
  const found = {
    shared: await outcome(route, await next(), field, shared),
    foreign: await outcome(route, await next(), field, foreign),
    unknown: await outcome(route, await next(), field, unknownId),
  };
  // What is refused changes nothing.
  if (isKept) expect(await rowsOf(shop.service, ofAsking)).toEqual(before);
  const ofOwn = await outcome(route, own, field, await ownId(own, field, () => inOwn(own)));
  expect([shortly(ofOwn), shortly(found.shared), shortly(found.foreign)]).toEqual(wanted);
  // What the caller does not know looks as if it did not exist.
  expect(found.foreign).toBe(found.unknown);
  for (const each of [found.shared, found.foreign]) expect(each).not.toMatch(/ELSEWHERE/);
});
