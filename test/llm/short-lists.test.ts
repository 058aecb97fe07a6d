import { z } from 'zod';
import { functions as learning } from '../../src/agents/learning/suggestions.ts';
import { tools } from '../../src/conversation/tools.ts';
import { functions as planning } from '../../src/planning/ask-model.ts';

/** Returns the paths of all lists in a schema that have no maximum length. */
function endlessIn(schema: unknown, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, maxItems } = schema as { type?: unknown; maxItems?: unknown };
  const isEndless = type === 'array' && maxItems === undefined;
  return [
    ...(isEndless ? [path] : []),
    ...Object.entries(schema).flatMap(([name, each]) => endlessIn(each, `${path}.${name}`)),
  ];
}

test('every list that a model can send to a tool has a maximum length', () => {
  const declared = Object.entries({ ...tools, ...planning, ...learning });
  expect(declared.length).toBeGreaterThan(25);
  const schemas = declared.map(([name, { arguments: schema }]) => [name, z.toJSONSchema(schema, { io: 'input' })]);
  expect(schemas.flatMap(([name, schema]) => endlessIn(schema, name as string))).toEqual([]);
});
