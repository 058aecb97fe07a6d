import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { App } from '../../src/app.ts';
import { registerWebhooks } from '../../src/github/inbox/events.ts';
import { githubApiVersion } from '../../src/outgoing/fetch-from.ts';
import { demands, readDescription } from './description.ts';
import { usedMutations, usedOperations } from './source.ts';

const { operations, mutations, events, always } = demands;
const { default_permissions: granted, default_events: heard } = parse(
  readFileSync(new URL('../../app.yml', import.meta.url), 'utf8'),
) as {
  default_permissions: Record<string, string>;
  default_events: string[];
};
const used = usedOperations();
const handled: string[] = [];
const listener = { on: (names: string | string[]) => handled.push(...[names].flat()) };
registerWebhooks(listener as never, {} as App);
const handledEvents = [...new Set(handled.map((name) => name.split('.')[0] ?? ''))];

const levels = ['read', 'write', 'admin'];
/** Returns whether the permissions of app.yml include those of an alternative, such as `issues:write+contents:read`. */
function covers(permissions: Record<string, string>, needed: string): boolean {
  return needed.split('+').every((each) => {
    const [name = '', level = ''] = each.split(':');
    return levels.indexOf(permissions[name] ?? '') >= levels.indexOf(level);
  });
}
/** Everything that the service does, with the permissions that allow it, as alternatives. */
const needs = [
  ...used.map((name) => [name, operations[name] ?? []] as const),
  ...heard.map((name) => [name, events[name] ?? []] as const),
  ...usedMutations().map((name) => [name, mutations[name] ?? []] as const),
  ['git push', ['contents:write']] as const,
].filter(([, alternatives]) => alternatives.length > 0);

test('GitHub has all operations that the service uses, and none is deprecated', () => {
  const description = readDescription(githubApiVersion);
  expect(used.length).toBeGreaterThan(50);
  expect(used.filter((name) => description.named(name) === undefined)).toEqual([]);
  expect(used.filter((name) => description.named(name)?.isDeprecated)).toEqual([]);
  expect(used.filter((name) => operations[name] === undefined)).toEqual([]);
});

test('it is known what GitHub demands for each mutation that the service uses, and for no others', () => {
  expect(usedMutations()).toEqual(Object.keys(mutations).sort());
});

test('app.yml has the permissions for all operations and events', () => {
  const lacking = needs.filter(([, alternatives]) => !alternatives.some((each) => covers(granted, each)));
  expect(lacking).toEqual([]);
});

test.each(Object.entries(granted))('with less than %s: %s, something would be refused', (name, level) => {
  const { [name]: _, ...rest } = granted;
  const lower = levels[levels.indexOf(level) - 1];
  const less = lower === undefined ? rest : { ...rest, [name]: lower };
  const refused = needs.filter(([, alternatives]) => !alternatives.some((each) => covers(less, each)));
  expect(refused.length).toBeGreaterThan(0);
});

test('app.yml subscribes to the events that are handled, and to no others', () => {
  expect(handledEvents.filter((name) => !always.includes(name)).sort()).toEqual([...heard].sort());
});
