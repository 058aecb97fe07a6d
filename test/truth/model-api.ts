import { createRequire } from 'node:module';
import { Declarations } from './declarations.ts';
import { Description, type Json } from './description.ts';
import { Schemas } from './schemas.ts';

const { resolve } = createRequire(import.meta.url);
const fileOf = (module: string) => resolve(`openai/resources/${module}`).replace(/\.js$/, '.d.ts');
const files = { responses: fileOf('responses/responses'), chat: fileOf('chat/completions/completions') };

export type Api = 'responses' | 'chat';

/** Reads what the types of the client library say of both APIs. Takes about half a second. */
export function readModelApi() {
  const declarations = new Declarations();
  const request = {
    responses: declarations.typeIn(files.responses, 'ResponseCreateParams'),
    chat: declarations.typeIn(files.chat, 'ChatCompletionCreateParams'),
  };
  const typeIn = (api: Api, name: string) => declarations.typeIn(files[api], name);
  return { declarations, request, typeIn };
}

/** A checker of requests. It compiles the schema of an API when that is first needed. */
export function requestChecker(): (api: Api, body: Record<string, unknown>) => string[] {
  const { declarations, request } = readModelApi();
  const { schemas } = declarations;
  const checks = new Schemas(new Description({ paths: {}, components: { schemas } }));
  return (api, body) => checks.sent(request[api], api === 'chat' ? ownChat(body) : ownResponses(body)).slice(0, 5);
}

type Fields = Record<string, unknown>;
const listOf = (value: unknown) => (Array.isArray(value) ? (value as Fields[]) : []);

/** Leaves out what a server sent and gets back unchanged: unknown fields of answers, and content in parts. */
function ownChat(body: Fields): Fields {
  const messages = listOf(body.messages).map((message) => {
    if (message.role !== 'assistant') return message;
    const { role, content, tool_calls } = message;
    const calls = listOf(tool_calls).map(({ id, type, function: called }) => ({ id, type, function: called }));
    const own = { role, content: Array.isArray(content) ? '' : content };
    return calls.length === 0 ? own : { ...own, tool_calls: calls };
  });
  return { ...body, messages };
}

/** Leaves out items that a server sent and gets back unchanged. Those of the service have no type, or no `id`. */
function ownResponses(body: Fields): Fields {
  const isOwn = ({ type, id }: Fields) =>
    type === undefined || (['function_call_output', 'function_call'].includes(String(type)) && id === undefined);
  return { ...body, input: listOf(body.input).filter(isOwn) };
}

/** How much of an example there is: only what is required, or every field. */
export type Extent = 'required' | 'all';

/** Returns a value that fits a schema. Of several alternatives it takes the first that is not null. */
export function exampleOf(declarations: Declarations, schema: Json, extent: Extent, depth = 0): unknown {
  const part = declarations.resolve(schema) as Json & { allOf?: Json[]; anyOf?: Json[]; type?: unknown; items?: Json };
  const again = (each: Json) => exampleOf(declarations, each, extent, depth + 1);
  if (part.enum !== undefined) return part.enum[0];
  if (part.anyOf !== undefined)
    return again(part.anyOf.find((each) => each.enum?.[0] !== null) ?? (part.anyOf[0] as Json));
  if (part.allOf !== undefined) return Object.assign({}, ...part.allOf.map(again));
  if (part.type === 'array')
    return extent === 'all' && depth < deepest && part.items !== undefined ? [again(part.items)] : [];
  if (part.type !== 'object') return { string: 'text', number: 1, boolean: true }[String(part.type)] ?? {};
  const named = Object.entries((part.properties ?? {}) as Record<string, Json>);
  const wanted = named.filter(([name]) => part.required?.includes(name) || (extent === 'all' && depth < deepest));
  return Object.fromEntries(wanted.map(([name, each]) => [name, again(each)]));
}

/** Types contain each other, so examples end somewhere. */
const deepest = 8;
