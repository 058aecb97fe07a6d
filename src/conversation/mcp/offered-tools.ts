import { createHash } from 'node:crypto';
import { z } from 'zod';
import { oneLine, plain } from '../../domain/text/sanitize.ts';
import type { ToolSpec } from '../../llm/model.ts';

/** The schema of a tool's arguments. Everything in it was written by the tool's server. */
type Schema = Record<string, unknown>;

const types = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
/** The names that model servers accept for arguments. */
const propertyName = /^[A-Za-z0-9_.-]{1,64}$/;

/** Schemas are read up to this depth and this many parts. What lies beyond may be anything. */
const maxDepth = 8;
const maxParts = 500;
/** The parts, names and choices that are read of all schemas of one server. What lies beyond may be anything. */
const maxPieces = 20_000;
const maxParameterDescription = 500;
const maxChoices = 100;
const maxChoiceChars = 200;
/** A schema that is still longer than this is replaced by one that allows any arguments. */
const maxSchemaChars = 10_000;

const anyArguments: Schema = { type: 'object', properties: {} };

/** What may still be read of the schemas of a server. */
interface Allowance {
  pieces: number;
}

/**
 * Rebuilds the schema of a tool's arguments from the few keywords that all model servers understand. A model server
 * refuses the whole request for one invalid schema, so a wrong or hostile one must not reach it. References within the
 * schema are replaced by what they refer to.
 */
export function modelSchema(given: unknown, left: Allowance = { pieces: maxPieces }): Schema {
  const read = new Reader(given, left);
  const schema = read.schema(given, 0);
  if (schema.type !== 'object' || read.isTooLong) return anyArguments;
  const whole = { properties: {}, ...schema };
  return JSON.stringify(whole).length > maxSchemaChars ? anyArguments : whole;
}

/**
 * Many references may lead to the same place, and references lead to others. So what is read again for each of them has a
 * fixed limit, and what is as long as the answer is read once.
 */
class Reader {
  readonly #root: unknown;
  readonly #left: Allowance;
  /** The names of the properties that were read already. */
  readonly #names = new WeakMap<Schema, string[]>();
  #parts = 0;
  /** The least number of characters that the schema will have. */
  #chars = 0;

  constructor(root: unknown, left: Allowance) {
    this.#root = root;
    this.#left = left;
  }

  get isTooLong(): boolean {
    return this.#chars > maxSchemaChars;
  }

  schema(given: unknown, depth: number): Schema {
    this.#parts += 1;
    this.#left.pieces -= 1;
    if (depth > maxDepth || this.#isSpent() || !isObject(given)) return {};
    const target = this.#referred(given) ?? onlyOne(given.allOf);
    if (target !== undefined) return this.schema(target, depth + 1);
    return {
      ...typeOf(given.type),
      ...this.#description(given.description),
      ...this.#choices(given.enum ?? (given.const === undefined ? undefined : [given.const])),
      ...this.#properties(given, depth),
      ...this.#items(given, depth),
      ...this.#alternatives(given.anyOf ?? given.oneOf, depth),
    };
  }

  #isSpent(): boolean {
    return this.#parts > maxParts || this.#left.pieces < 0 || this.isTooLong;
  }

  /** Finds what `{ "$ref": "#/$defs/Name" }` refers to. */
  #referred({ $ref }: Schema): unknown {
    if (typeof $ref !== 'string') return undefined;
    const [, group = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]{1,200})$/.exec($ref) ?? [];
    const known = isObject(this.#root) ? this.#root[group] : undefined;
    return isObject(known) && Object.hasOwn(known, name) ? known[name] : undefined;
  }

  #description(given: unknown): Schema {
    if (typeof given !== 'string') return {};
    const description = given.slice(0, maxParameterDescription);
    this.#chars += description.length;
    return { description };
  }

  #choices(given: unknown): Schema {
    // If some choices cannot be shown, all are left out, because the model would take the others for the only ones.
    if (!Array.isArray(given) || given.length === 0 || given.length > maxChoices) return {};
    this.#left.pieces -= given.length;
    if (!given.every(isFitChoice)) return {};
    const choices = [...new Set<string | number | boolean>(given)];
    for (const each of choices) this.#chars += String(each).length;
    return { enum: choices };
  }

  #properties({ properties, required }: Schema, depth: number): Schema {
    if (!isObject(properties)) return {};
    const names = this.#namesOf(properties);
    const read: [string, Schema][] = [];
    for (const name of names) {
      if (this.#isSpent()) break;
      this.#chars += name.length;
      read.push([name, this.schema(properties[name], depth + 1)]);
    }
    const needed = this.#needed(required);
    const shown = read.map(([name]) => name).filter((name) => needed.has(name));
    return { properties: Object.fromEntries(read), ...(shown.length > 0 ? { required: shown } : {}) };
  }

  #needed(required: unknown): Set<unknown> {
    if (!Array.isArray(required) || required.length > maxParts) return new Set();
    this.#left.pieces -= required.length;
    return new Set(required);
  }

  #namesOf(properties: Schema): string[] {
    const known = this.#names.get(properties);
    if (known !== undefined) return known;
    const names: string[] = [];
    for (const name of Object.keys(properties)) {
      if (names.length === maxParts) break;
      if (propertyName.test(name) && name !== '__proto__') names.push(name);
    }
    this.#names.set(properties, names);
    return names;
  }

  /** Some model servers refuse a list without a schema for its items. */
  #items({ type, items }: Schema, depth: number): Schema {
    return type === 'array' || isObject(items) ? { items: this.schema(items, depth + 1) } : {};
  }

  #alternatives(given: unknown, depth: number): Schema {
    if (!Array.isArray(given) || given.length === 0) return {};
    return { anyOf: given.slice(0, maxChoices).map((each) => this.schema(each, depth + 1)) };
  }
}

function typeOf(given: unknown): Schema {
  if (Array.isArray(given) && given.length > types.size) return {};
  const known = [given].flat().filter((each): each is string => typeof each === 'string' && types.has(each));
  const [first, ...more] = [...new Set(known)];
  if (first === undefined) return {};
  return { type: more.length === 0 ? first : [first, ...more] };
}

function isFitChoice(given: unknown): given is string | number | boolean {
  return typeof given === 'string' ? given.length <= maxChoiceChars : ['number', 'boolean'].includes(typeof given);
}

function onlyOne(given: unknown): unknown {
  return Array.isArray(given) && given.length === 1 ? given[0] : undefined;
}

function isObject(given: unknown): given is Schema {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

/** A tool of an MCP server, as it is offered to the model. */
export interface OfferedTool {
  server: string;
  /** The name that the server gave it. */
  tool: string;
  spec: ToolSpec;
}

/** The answer of one server to the question for its tools. */
export interface Listing {
  server: string;
  /** The tools that people chose; null for all. */
  wanted: string[] | null;
  tools: unknown[];
}

/** OpenAI accepts 128 tools in a request, and the agent has about 20 of its own. */
const maxTools = 100;
/** Characters of all descriptions and schemas together. Each request contains them again. */
const maxChars = 100_000;
/** The limit of OpenAI for the description of a tool. */
const maxDescription = 1024;
/** The characters of a description from which those that are invisible are removed. */
const maxReadDescription = 20_000;
/** The limit of OpenAI and Anthropic for names. */
const maxName = 64;

/** Once this many tools of a server did not fit into what was left, its other tools are not read. */
const maxTooLong = 20;

const maxDeclaredName = 128;
const declared = z.object({
  name: z.string().min(1).max(maxDeclaredName),
  description: z.string().catch(''),
  inputSchema: z.unknown().optional(),
});

/**
 * Chooses the tools to offer. Names, descriptions and schemas come from the servers, so each is checked, shortened or left
 * out. `notes` says what was left out.
 */
export function offerTools(listings: Listing[]): { tools: OfferedTool[]; notes: string[] } {
  const tools = new Map<string, OfferedTool>();
  const notes: string[] = [];
  let chars = 0;
  for (const { server, wanted, tools: given } of listings) {
    const fit = given.filter(isNamed);
    const names = wanted === null ? undefined : new Set(wanted);
    const chosen = fit.filter(({ name }) => names?.has(name) !== false);
    const allowance: Allowance = { pieces: maxPieces };
    let [left, tooLong] = [0, 0];
    for (const each of chosen) {
      if (tools.size === maxTools || tooLong === maxTooLong || tools.has(offeredName(server, each.name))) {
        left += 1;
        continue;
      }
      const offered = offeredAs(server, declared.parse(each), allowance);
      const length = JSON.stringify(offered.spec).length;
      if (chars + length > maxChars) {
        left += 1;
        tooLong += 1;
      } else {
        tools.set(offered.spec.name, offered);
        chars += length;
      }
    }
    notes.push(...notesOn(server, { unfit: given.length - fit.length, left, absent: absentFrom(fit, wanted) }));
  }
  return { tools: [...tools.values()], notes };
}

/** Without zod, because a project's servers may declare 40,000 tools together. */
function isNamed(given: unknown): given is { name: string } {
  const name = isObject(given) ? given.name : undefined;
  return typeof name === 'string' && name !== '' && name.length <= maxDeclaredName;
}

function offeredAs(
  server: string,
  { name, description, inputSchema }: z.output<typeof declared>,
  allowance: Allowance,
): OfferedTool {
  const origin = `[tool of the MCP server ${server}] `;
  const about =
    oneLine(plain(description.slice(0, maxReadDescription)), maxDescription - origin.length) ||
    'It has no description.';
  return {
    server,
    tool: name,
    spec: {
      name: offeredName(server, name),
      description: `${origin}${about}`,
      parameters: modelSchema(inputSchema, allowance),
    },
  };
}

function offeredName(server: string, name: string): string {
  return fitName(`${server}__${name}`);
}

/** Replaces characters that model servers refuse in names. A name that is too long ends in a digest of the whole. */
function fitName(name: string): string {
  const fit = name.replace(/[^A-Za-z0-9_-]/g, '_');
  if (fit.length <= maxName) return fit;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${fit.slice(0, maxName - digest.length - 1)}_${digest}`;
}

function absentFrom(fit: { name: string }[], wanted: string[] | null): string[] {
  const names = new Set(fit.map(({ name }) => name));
  return (wanted ?? []).filter((name) => !names.has(name));
}

function notesOn(server: string, { unfit, left, absent }: { unfit: number; left: number; absent: string[] }): string[] {
  const notes: string[] = [];
  if (absent.length > 0) notes.push(`${server} has no tool ${oneLine(absent.join(', '), 200)}`);
  if (unfit > 0) notes.push(`${server} declares ${unfit} tools without a usable name; they are not offered`);
  if (left > 0)
    notes.push(`${left} tools of ${server} are not offered, because there are too many; choose some with "tools"`);
  return notes;
}
