import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Json } from './description.ts';

interface Document {
  webhooks: Record<string, { post: { requestBody: { content: { 'application/json': { schema: Json } } } } }>;
  components: { schemas: Record<string, Json> };
}

/** A field of a payload that GitHub may leave out or set to null. */
interface Loose {
  /** Names and indexes that lead to the field. */
  path: string[];
  how: 'null' | 'absent';
}

/** GitHub describes these as always present, but sends events without them, or with null, for deleted accounts. */
const told = ['sender', 'repository', 'installation'];

/** Reads GitHub's description of its webhooks. */
export function readWebhooks(): Document {
  const folder = createRequire(import.meta.url).resolve('@octokit/openapi-webhooks/package.json');
  return JSON.parse(readFileSync(new URL('generated/api.github.com.json', `file://${folder}`), 'utf8')) as Document;
}

/**
 * Returns payloads like this one, with nullable fields set to null and optional fields left out: all of one depth together,
 * or, if `isThorough`, each field alone too.
 */
export function variantsOf(document: Document, event: string, payload: object, isThorough: boolean): object[] {
  const { action } = payload as { action?: string };
  const name = [event, action]
    .filter((part) => part !== undefined)
    .join('-')
    .replaceAll('_', '-');
  const schema = document.webhooks[name]?.post.requestBody.content['application/json'].schema;
  const told_ = told.flatMap((field) => [
    { path: [field], how: 'null' as const },
    { path: [field], how: 'absent' as const },
  ]);
  const loose = schema === undefined ? [] : looseFields(document, schema, payload, []);
  const levels = [1, 2, 3, 4].flatMap((depth) =>
    (['null', 'absent'] as const).map((how) => loose.filter((each) => each.how === how && each.path.length === depth)),
  );
  const alone = isThorough ? [...told_, ...loose] : told_;
  const groups = [told_.filter(({ how }) => how === 'null'), ...levels, ...alone.map((each) => [each])];
  return groups.filter((group) => group.length > 0).map((group) => without(payload, group));
}

function looseFields(document: Document, schema: Json, value: unknown, path: string[]): Loose[] {
  if (typeof value !== 'object' || value === null || path.length > 6) return [];
  const { properties = {}, required = [], items } = resolved(document, schema);
  const fields = Array.isArray(value)
    ? items === undefined
      ? []
      : [['0', items, true] as const]
    : named(properties, required);
  return fields.flatMap(([name, of, isRequired]) => {
    if (!(name in value)) return [];
    const here = [...path, name];
    const isNullable = resolved(document, of).nullable as unknown as boolean | undefined;
    return [
      ...(isNullable ? [{ path: here, how: 'null' as const }] : []),
      ...(isRequired ? [] : [{ path: here, how: 'absent' as const }]),
      ...looseFields(document, of, (value as Record<string, unknown>)[name], here),
    ];
  });
}

const named = (properties: Json, required: string[]) =>
  Object.entries(properties).map(([name, of]) => [name, of as Json, required.includes(name)] as const);

function resolved({ components }: Document, schema: Json): Json {
  let found = schema;
  while (found.$ref !== undefined) found = components.schemas[found.$ref.split('/').pop() ?? ''] as Json;
  return found;
}

function without(payload: object, fields: Loose[]): object {
  const copy = structuredClone(payload);
  for (const { path, how } of fields) {
    const at = path
      .slice(0, -1)
      .reduce<Record<string, unknown> | undefined>(
        (found, name) => found?.[name] as Record<string, unknown> | undefined,
        copy as Record<string, unknown>,
      );
    const last = path.at(-1) ?? '';
    if (typeof at !== 'object' || at === null) continue;
    if (how === 'null') at[last] = null;
    else if (!Array.isArray(at)) Reflect.deleteProperty(at, last);
  }
  return copy;
}

const examplesFile = 'examples.json';

/** Notes how many of GitHub's example events were handled, for the summary of the run. */
export function noteExamples(examples: number, variants: number): void {
  const folder = process.env.GITHUB_RECORDS;
  if (folder !== undefined) writeFileSync(join(folder, examplesFile), JSON.stringify([examples, variants]));
}

/** Returns what `noteExamples` noted during a run. */
export function examplesIn(folder: string): [examples: number, variants: number] {
  const file = join(folder, examplesFile);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [0, 0];
}
