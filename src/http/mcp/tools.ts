import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { openapiDocument } from '../documents/openapi.ts';
import type { Route } from '../route.ts';

type JsonSchema = Record<string, unknown>;

/** Where the request of an operation has an argument of its tool. */
interface Place {
  in: 'path' | 'query' | 'body';
  name: string;
}

/** A tool of the MCP server: one operation of the REST API. */
export interface OperationTool {
  declared: Route;
  definition: Tool;
  /** By the names of the tool's arguments. */
  places: Map<string, Place>;
}

/** What a model gets if it asks for no toolsets. */
export const usualToolsets = ['tasks', 'runs', 'inbox'];

/**
 * Returns whether a model may have an operation as a tool. An operation that gives out a secret has none, because the model's
 * server would read it, and neither has a stream, which has no end. A route opts out with `guide: null`.
 */
function isOffered({ access, isStream, isSecret, guide }: Route): boolean {
  return access.kind !== 'public' && !isStream && !isSecret && guide !== null;
}

/** Returns the tools of the declared routes, by toolset (the tags of OpenAPI), in the order of their declaration. */
export function toolsOf(routes: readonly Route[]): Map<string, OperationTool[]> {
  const document = openapiDocument([...routes], '') as OpenApi;
  const sets = new Map<string, OperationTool[]>();
  for (const declared of routes.filter(isOffered)) {
    const tools = sets.get(declared.tag) ?? [];
    tools.push(toolOf(declared, document));
    sets.set(declared.tag, tools);
  }
  return sets;
}

/** The parts of our own OpenAPI document that are read here. */
interface OpenApi {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, JsonSchema> };
}

interface OpenApiOperation {
  parameters?: { in: string; name: string; required?: boolean; description?: string; schema: JsonSchema }[];
  requestBody?: { required?: boolean; content: JsonContent };
  responses: Record<string, { content?: Partial<JsonContent> }>;
}

type JsonContent = { 'application/json': { schema: JsonSchema } };

function toolOf(declared: Route, document: OpenApi): OperationTool {
  const path = declared.path.replace(/:(\w+)/g, '{$1}');
  const operation = document.paths[path]?.[declared.method] as OpenApiOperation;
  const whole: Whole = (schema) => inlined(schema, document) as JsonSchema;
  const { inputSchema, places } = inputOf(operation, whole);
  const outputSchema = outputOf(declared, operation, whole);
  const definition: Tool = {
    name: declared.operationId,
    title: declared.summary,
    description: descriptionOf(declared),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: annotationsOf(declared),
  };
  return { declared, definition, places };
}

function descriptionOf({ summary, guide, access }: Route): string {
  const role = access.role === 'admin' || access.role === 'owner' ? ` Requires the ${access.role} role.` : '';
  return `${guide ?? `${summary}.`}${role}`;
}

/** Replaces references by what they name, because a tool's schema stands alone. Our schemas contain no circles. */
function inlined(schema: unknown, document: OpenApi): unknown {
  if (Array.isArray(schema)) return schema.map((entry) => inlined(entry, document));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref, ...rest } = schema as { $ref?: string };
  if ($ref !== undefined) return inlined(document.components.schemas[$ref.split('/').at(-1) ?? ''], document);
  const kept = Object.entries(rest).filter(([key]) => key !== 'example' && key !== 'examples');
  return Object.fromEntries(kept.map(([key, value]) => [key, inlined(value, document)]));
}

/** Returns a schema without references. */
type Whole = (schema: JsonSchema) => JsonSchema;

function inputOf(operation: OpenApiOperation, whole: Whole) {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  const places = new Map<string, Place>();
  const add = (place: Place, schema: JsonSchema, isRequired: boolean) => {
    // Approving names a task in the path and, in the body, what is approved; both are called `id`.
    const name = places.has(place.name) ? `${place.in}Id` : place.name;
    places.set(name, place);
    properties[name] = schema;
    if (isRequired) required.push(name);
  };
  for (const { in: where, name, required: isRequired, description, schema } of operation.parameters ?? [])
    if (where === 'path' || where === 'query')
      add({ in: where, name }, { ...whole(schema), ...(description ? { description } : {}) }, isRequired === true);
  const body = operation.requestBody && whole(operation.requestBody.content['application/json'].schema);
  if (body?.type === 'object')
    for (const [name, schema] of Object.entries((body.properties ?? {}) as Record<string, JsonSchema>))
      add({ in: 'body', name }, schema, ((body.required ?? []) as string[]).includes(name));
  else if (body !== undefined) add({ in: 'body', name: '' }, body, true);
  return { inputSchema: { type: 'object' as const, properties, required, additionalProperties: false }, places };
}

/** Results of tools are objects, so a list is the property `items`, and what may be null the property `result`. */
function outputOf(
  { paged }: Route,
  { responses }: OpenApiOperation,
  whole: Whole,
): (JsonSchema & { type: 'object' }) | undefined {
  const schemas = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap<JsonSchema>(([, { content }]) => content?.['application/json']?.schema ?? []);
  const shapes = [...new Map(schemas.map((schema) => [JSON.stringify(schema), whole(schema)])).values()];
  const [first, ...others] = shapes.map((shape) => asObject(shape, paged === true));
  if (first === undefined || others.length === 0) return first;
  return { type: 'object', anyOf: [first, ...others] };
}

function asObject(shape: JsonSchema, isPaged: boolean): JsonSchema & { type: 'object' } {
  if (shape.type === 'object') return { ...shape, type: 'object' };
  const [name, more] =
    shape.type === 'array'
      ? ['items', isPaged ? { nextOffset: { type: 'integer', description: 'the offset of the next page' } } : {}]
      : ['result', {}];
  return { type: 'object', properties: { [name]: shape, ...more }, required: [name], additionalProperties: false };
}

/** Returns the result of a tool in the form that `outputOf` describes. */
export function resultOf(reply: unknown, nextOffset: number | undefined): Record<string, unknown> {
  if (Array.isArray(reply)) return { items: reply, ...(nextOffset === undefined ? {} : { nextOffset }) };
  return typeof reply === 'object' && reply !== null ? (reply as Record<string, unknown>) : { result: reply };
}

function annotationsOf({ method, reply }: Route): Tool['annotations'] {
  if (method === 'get') return { readOnlyHint: true, openWorldHint: false };
  return {
    readOnlyHint: false,
    // What creates something destroys nothing.
    destructiveHint: reply[0] !== 201,
    idempotentHint: method === 'put' || method === 'delete',
    openWorldHint: true,
  };
}

/** The request of a tool's call. */
export interface ToolRequest {
  method: string;
  /** Relative to the address of the REST API. */
  url: string;
  /** Undefined if the operation takes no body. */
  body: unknown;
}

/**
 * Returns the request for a call. Values are validated by the route itself.
 * @throws BadArguments with a sentence that a model can act on
 */
export function requestOf(
  { declared, definition, places }: OperationTool,
  given: Record<string, unknown>,
): ToolRequest {
  const missing = (definition.inputSchema.required ?? []).filter((name) => given[name] === undefined);
  const unknown = Object.keys(given).filter((name) => !places.has(name));
  if (missing.length > 0 || unknown.length > 0) throw new BadArguments(problemText(definition, missing, unknown));
  const parts = {
    path: declared.path,
    query: new URLSearchParams(),
    body: declared.body === undefined ? undefined : {},
  };
  for (const [argument, place] of places)
    if (given[argument] !== undefined) put(parts, place, argument, given[argument]);
  const { path, query, body } = parts;
  return { method: declared.method.toUpperCase(), url: query.size === 0 ? path : `${path}?${query}`, body };
}

/** Puts the value of an argument into its place in a request. */
function put(
  request: { path: string; query: URLSearchParams; body: unknown },
  { in: where, name }: Place,
  argument: string,
  value: unknown,
): void {
  if (where === 'path') request.path = request.path.replace(`:${name}`, () => pathPart(argument, value));
  else if (where === 'query') for (const each of [value].flat()) request.query.append(name, queryText(argument, each));
  else if (name === '') request.body = value;
  else request.body = { ...(request.body as object | undefined), [name]: value };
}

/** The arguments of a call do not fit its tool. */
export class BadArguments extends Error {}

/** Names in errors are cut, because a model can send anything. */
const shownNames = 10;
const shownLength = 60;

function problemText({ name, inputSchema }: Tool, missing: string[], unknown: string[]): string {
  const takes = Object.keys(inputSchema.properties ?? {}).join(', ') || 'no arguments';
  const list = (names: string[]) =>
    names
      .slice(0, shownNames)
      .map((each) => each.slice(0, shownLength))
      .join(', ');
  return [
    ...(missing.length > 0 ? [`Missing: ${list(missing)}.`] : []),
    ...(unknown.length > 0 ? [`Unknown: ${list(unknown)}.`] : []),
    `${name} takes ${takes}. Call it again with these names.`,
  ].join(' ');
}

function pathPart(argument: string, value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') throw new BadArguments(`${argument} must be a text`);
  const part = encodeURIComponent(value);
  if (part === '' || part === '.' || part === '..') throw new BadArguments(`${argument} must be an id, not “${value}”`);
  return part;
}

function queryText(argument: string, value: unknown): string {
  if (typeof value === 'object') throw new BadArguments(`${argument} must be a text, a number, or true or false`);
  return String(value);
}
