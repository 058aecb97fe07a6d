import type { z } from 'zod';
import type { AppError, Problem } from '../../src/errors.ts';
import { undescribed } from '../../src/http/error-reply.ts';
import { validated } from '../../src/http/request.ts';
import type { Route } from '../../src/http/route.ts';
import { routes } from '../../src/routes.ts';

/** Words with which zod says what is wrong. */
const zodsOwn = /invalid|expected|received|too (?:small|big|short|long)|unrecognized|pattern|[<>]=|undefined|NaN/i;
/** Values that most fields refuse, each for another reason. */
const wrongs: unknown[] = [
  ...[undefined, null, true, 0, -1, 1.5, 1e12, '', ' ', 'x', '0', '101', '999999999999', 'a\0b', 'ä'.repeat(60_000)],
  ...[[], ['x'], [null], [['x']], Array(101).fill('x'), Array(101).fill({}), {}, { nope: 1 }, { 'n\0': 'x' }],
];

interface Def {
  type: string;
  shape?: Record<string, z.ZodType>;
  element?: z.ZodType;
  valueType?: z.ZodType;
  innerType?: z.ZodType;
  in?: z.ZodType;
  options?: z.ZodType[];
}
const defOf = (schema: z.ZodType) => (schema as unknown as { _zod: { def: Def } })._zod.def;

/** Returns functions that place a value at each field of a schema, however deep. */
function fieldsOf(schema: z.ZodType): ((value: unknown) => unknown)[] {
  const { shape = {}, element, valueType, innerType, in: input, options = [] } = defOf(schema);
  const within = (inner: z.ZodType, wrap: (value: unknown) => unknown) =>
    fieldsOf(inner).map((place) => (value: unknown) => wrap(place(value)));
  return [
    (value) => value,
    ...Object.entries(shape).flatMap(([key, inner]) => within(inner, (value) => ({ [key]: value }))),
    ...(element === undefined ? [] : within(element, (value) => [value])),
    ...(valueType === undefined ? [] : within(valueType, (value) => ({ x: value }))),
    ...[innerType, input, ...options].flatMap((inner) => (inner === undefined ? [] : fieldsOf(inner))),
  ];
}

function problemsWith(route: Route, where: 'query' | 'body', value: unknown): Problem[] {
  try {
    validated(route, where, value);
    return [];
  } catch (error) {
    return (error as AppError).problems ?? [];
  }
}

const inputs = routes.flatMap((route) =>
  (['query', 'body'] as const).flatMap((where) => {
    const schema = route[where];
    return schema === undefined ? [] : [[`${where} of ${route.operationId}`, route, where, schema] as const];
  }),
);

test.each(inputs)('what is wrong with the %s is said in our own words', (_name, route, where, schema) => {
  const found = fieldsOf(schema).flatMap((place) =>
    wrongs.flatMap((wrong) => problemsWith(route, where, place(wrong))),
  );
  expect(found.length).toBeGreaterThan(0);
  const bad = found.filter(
    ({ path, message }) =>
      zodsOwn.test(message.replace(path, '')) ||
      message.endsWith(undescribed) ||
      (path !== '' && !message.startsWith(`${path} `)) ||
      message.startsWith(`${path} ${path} `) ||
      !/^\S+.* (?:is|must|may) /.test(message),
  );
  expect([...new Set(bad.map(({ path, message }) => `${path}: ${message}`))].slice(0, 10)).toEqual([]);
});

test('a message is a sentence about the field', () => {
  const said = (operationId: string, where: 'query' | 'body', value: unknown) => {
    const route = routes.find((each) => each.operationId === operationId) as Route;
    return problemsWith(route, where, value).map(({ message }) => message);
  };
  expect(said('createTask', 'body', {})).toEqual(['title is required']);
  expect(said('createTask', 'body', { title: ' ' })).toEqual(['title must have 1 to 200 characters']);
  expect(said('createTask', 'body', { title: 't', dependsOn: [7] })).toEqual(['dependsOn.0 must be a string']);
  expect(said('createTask', 'body', [])).toEqual(['The body must be an object']);
  expect(said('evolveAgent', 'body', {})).toEqual(['improvements is required unless newSystemPrompt is given']);
  expect(said('listTasks', 'query', { limit: ['1', '2'] })).toEqual(['limit must be given only once']);
  expect(said('listTasks', 'query', { limit: '101' })).toEqual(['limit must be between 1 and 100']);
  expect(said('listTasks', 'query', { limit: 'ten' })).toEqual(['limit must be a whole number between 1 and 100']);
  expect(said('listTasks', 'query', { limt: '1' })).toEqual(['limt is not a known field']);
});
