import { carryOut, verbs } from '../../src/github/commands/verbs.ts';
import { anyUser } from '../../src/http/access/access.ts';
import { route } from '../../src/http/route.ts';
import { actionPhrases } from '../../src/web/audit/words.ts';
import { commandOf, commandRecipes, planCommands } from '../support/audit/command-recipes.ts';
import { openWorkshop, type StoredRecord, type Workshop } from '../support/audit/workshop.ts';
import { writeRecipes } from '../support/audit/write-recipes.ts';
import { named } from '../support/everything.ts';

// Every operation that changes something leaves exactly one record. The cases come from the tables of routes and
// commands, so that a new operation cannot escape.

const writes = named.filter(([, route]) => route.method !== 'get');
const commands = Object.entries(verbs);

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.close());

const byPeople = (records: StoredRecord[]) => records.filter(({ via }) => via !== 'system');

test('every write and every command has a recipe and an action', () => {
  expect(Object.keys(writeRecipes).sort()).toEqual(writes.map(([, route]) => route.operationId).sort());
  expect(Object.keys(commandRecipes).sort()).toEqual(Object.keys(verbs).sort());
  for (const [, route] of writes) expect([route.path, route.audit?.action]).toEqual([route.path, expect.any(String)]);
});

test('the dashboard says every action in words', () => {
  const actions = [...writes.map(([, route]) => route.audit?.action ?? ''), ...commands.map(([, { audit }]) => audit)];
  expect(actions.filter((action) => actionPhrases[action] === undefined)).toEqual([]);
});

test('a route that changes something does not compile without `audit`', () => {
  const declared = { operationId: 'x', path: '/x', summary: '', tag: '', access: anyUser, reply: [204] } as const;
  const handle = async () => {};
  // @ts-expect-error: `audit` is missing
  route({ ...declared, method: 'post', handle });
  route({ ...declared, method: 'get', handle });
});

test.each(writes)('%s leaves one record; refused or repeated it leaves none', async (_name, route) => {
  const recipe = writeRecipes[route.operationId];
  if (recipe === undefined) throw new Error(`add a recipe for ${route.operationId} to write-recipes.ts`);
  const { path, body } = await recipe(shop);
  const call = async (at: string, headers = {}) => {
    const options = { token: shop.token, headers, ...(body === undefined ? {} : { body }) };
    return (await shop.service.call(route.method.toUpperCase(), at, options)).status;
  };
  expect(await shop.recordsOf(async () => expect(await call(`${path}?surprise=1`)).toBe(400))).toEqual([]);
  const keyed = route.method === 'post' ? { 'Idempotency-Key': route.operationId } : {};
  const records = await shop.recordsOf(async () => expect(await call(path, keyed)).toBe(route.reply[0]));
  expect(byPeople(records)).toMatchObject([{ via: 'token', action: route.audit?.action, actor_login: 'owner' }]);
  // What happened once is not recorded twice: the repetition of a POST, and a PATCH that changes nothing any more or
  // names a version that it has replaced itself.
  const again = route.operationId === 'editWizard' ? 409 : 200;
  if (route.method === 'post') expect(await shop.recordsOf(() => call(path, keyed))).toEqual([]);
  if (route.method === 'patch')
    expect(await shop.recordsOf(async () => expect(await call(path)).toBe(again))).toEqual([]);
});

test.each(commands)('the command `%s` leaves one record', async (verb, { audit }) => {
  const recipe = commandRecipes[verb];
  if (recipe === undefined) throw new Error(`add a recipe for ${verb} to command-recipes.ts`);
  const given = await commandOf(shop, verb, await recipe(shop));
  const records = await shop.recordsOf(async () => expect(await carryOut(shop.service.app, given)).toBeUndefined());
  expect(byPeople(records)).toMatchObject([{ via: 'comment', action: audit, actor_login: 'owner' }]);
});

test('commands that are about a plan for a sprint leave one record of the plan or the sprint', async () => {
  for (const [verb, action, order] of await planCommands(shop)) {
    const given = await commandOf(shop, verb, order);
    const records = await shop.recordsOf(() => carryOut(shop.service.app, given));
    expect(byPeople(records)).toMatchObject([{ via: 'comment', action, object_type: action.split('.')[0] }]);
  }
});
