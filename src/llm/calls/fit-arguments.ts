import { z } from 'zod';
import { type Declared, type Given, plainName } from './declaration.ts';
import { readJson } from './read-json.ts';

export type Fitted<T> = { ok: true; value: T } | { ok: false; problem: string };

/** How to understand arguments that are not written as declared. */
export interface Leniency extends Pick<Declared, 'argumentNames' | 'defaults' | 'translate'> {
  /** The name by which the model called the tool. */
  name?: string;
  /** The model's answer reached its length limit, so the arguments may be incomplete. */
  isCut?: boolean;
}

/** Arguments of other agents' tools that only explain a call, so they can be left out. */
const explanations = new Set([
  ...['description', 'explanation', 'reason', 'rationale', 'justification', 'thought', 'toolsummary', 'toolaction'],
  ...['securityrisk', 'requiresapproval', 'withescalatedpermissions', 'sandboxpermissions', 'waitforprevioustools'],
]);

/**
 * Reads the arguments of a call and checks them with the schema of the tool. Understands other names of arguments,
 * numbers and booleans as strings, arguments inside another object and arguments that were encoded twice. Refuses what
 * could mean two things; the problem is a message for the model.
 */
export function fitArguments<S extends z.ZodType>(
  schema: S,
  text: string,
  leniency: Leniency = {},
): Fitted<z.output<S>> {
  const read = readObject(text, leniency);
  if (!read.ok) return read;
  const fields = fieldsOf(schema);
  if (fields === undefined) return checked(schema, read.value);
  try {
    const { name = '', translate = (given: Given) => given } = leniency;
    const known = knownNames(fields, leniency);
    const inner = unwrapped(read.value, known, name);
    const renamed = rename(translate(inner, name), known);
    const values = Object.entries(renamed).flatMap(([key, value]) => {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      const read = field === undefined ? value : coerced(field, value);
      const isLeftOut = read === undefined || (read === null && leniency.defaults?.[key] !== undefined);
      return isLeftOut ? [] : [[key, read] as const];
    });
    return checked(schema, { ...leniency.defaults, ...Object.fromEntries(values) });
  } catch (error) {
    if (error instanceof Unclear) return { ok: false, problem: error.message };
    throw error;
  }
}

/**
 * Reads arguments that must be written exactly as declared, because people read them as they are. A number in place of
 * a text is probably a mistake.
 */
export function readArguments<S extends z.ZodType>(
  schema: S,
  text: string,
  reading: { isCut?: boolean } = {},
): Fitted<z.output<S>> {
  const read = readObject(text, reading);
  return read.ok ? checked(schema, read.value) : read;
}

class Unclear extends Error {}

/** Reads a JSON object, which may be encoded twice or be the only item of a list. */
export function readObject(text: string, { isCut = false }: { isCut?: boolean }): Fitted<Given> {
  const notValid = (why: string): Fitted<Given> => ({
    ok: false,
    problem: `the arguments are not valid JSON (${why}); send one JSON object`,
  });
  let reading = readJson(text, { isCut });
  for (let times = 0; times < 2 && typeof reading.value === 'string'; times++)
    reading = readJson(reading.value, { isCut });
  if (reading.problem !== undefined) return notValid(reading.problem);
  const { value } = reading;
  const one = Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : value;
  if (typeof one !== 'object' || one === null || Array.isArray(one)) return notValid('expected an object');
  return { ok: true, value: one as Given };
}

function checked<S extends z.ZodType>(schema: S, value: unknown): Fitted<z.output<S>> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, problem: `the arguments do not fit: ${described(parsed.error)}${expected(schema)}` };
}

/** A refusal goes into the conversation, the journal and the database. */
const [maxIssues, maxChars] = [5, 2000];

/** Describes the first problems, and counts the others. */
function described({ issues }: z.ZodError): string {
  const text = z.prettifyError(new z.ZodError(issues.slice(0, maxIssues)));
  const shown = text.length > maxChars ? `${text.slice(0, maxChars).toWellFormed()}…` : text;
  return issues.length > maxIssues ? `${shown}\n… and ${issues.length - maxIssues} more` : shown;
}

/** Lists the arguments of a tool: `; expected { path, startLine? }`. */
function expected(schema: z.ZodType): string {
  const fields = Object.entries(fieldsOf(schema) ?? {}).filter(([, field]) => field.meta()?.hidden !== true);
  if (fields.length === 0) return '';
  const names = fields.map(([name, field]) => (field.safeParse(undefined).success ? `${name}?` : name));
  return `\nexpected { ${names.join(', ')} }`;
}

function fieldsOf(schema: z.ZodType): Record<string, z.ZodType> | undefined {
  return schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : undefined;
}

/** Returns the argument that each plain name means. */
function knownNames(fields: Record<string, unknown>, { argumentNames = {} }: Leniency): Map<string, string> {
  const others = Object.entries(argumentNames).flatMap(([name, all]) =>
    all.map((other) => [plainName(other), name] as const),
  );
  return new Map([...others, ...Object.keys(fields).map((name) => [plainName(name), name] as const)]);
}

const wrappers = new Set(['arguments', 'args', 'input', 'parameters', 'params', 'kwargs', 'properties', 'toolinput']);
const namesOfTool = new Set(['name', 'tool', 'toolname', 'function', 'type', 'recipientname']);

/** Takes the arguments out of an object around them, for example `{ "name": "read_file", "arguments": { … } }`. */
function unwrapped(given: Given, known: Map<string, string>, tool: string, depth = 0): Given {
  const keys = Object.keys(given);
  const isOfTool = (key: string) => namesOfTool.has(plainName(key)) && typeof given[key] === 'string';
  const [around, ...more] = keys.filter((key) => !isOfTool(key));
  if (around === undefined || more.length > 0 || depth > 2) return given;
  const isWrapper =
    wrappers.has(plainName(around)) || (plainName(around) === plainName(tool) && !known.has(plainName(around)));
  const content = given[around];
  const isArgument = known.has(plainName(around)) && typeof content !== 'object';
  if (!isWrapper || isArgument) return given;
  const inner = typeof content === 'string' ? readObject(content, {}) : { ok: true as const, value: content };
  const isObject = inner.ok && typeof inner.value === 'object' && inner.value !== null && !Array.isArray(inner.value);
  return isObject ? unwrapped(inner.value as Given, known, tool, depth + 1) : given;
}

/** Gives arguments their declared names. @throws Unclear when two names of one argument have different values */
function rename(given: Given, known: Map<string, string>): Given {
  const renamed: Given = {};
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const name = known.get(plainName(key)) ?? key;
    if (!known.has(plainName(key)) && (explanations.has(plainName(key)) || value === null)) continue;
    if (Object.hasOwn(renamed, name) && JSON.stringify(renamed[name]) !== JSON.stringify(value))
      throw new Unclear(`two arguments mean ${name} and have different values; send only ${name}`);
    renamed[name] = value;
  }
  return renamed;
}

/** Converts a value to the type of an argument where the meaning is clear. */
function coerced(field: z.ZodType, value: unknown): unknown {
  const isOptional = field.safeParse(undefined).success;
  if (value === null && isOptional) return undefined;
  const inner = field instanceof z.ZodOptional || field instanceof z.ZodDefault ? field.unwrap() : field;
  if (inner instanceof z.ZodNumber) return numberOf(value, isOptional);
  if (inner instanceof z.ZodBoolean) return booleanOf(value, isOptional);
  if (inner instanceof z.ZodString && (typeof value === 'number' || typeof value === 'boolean')) return String(value);
  if (inner instanceof z.ZodArray && typeof value === 'string') return listOf(value);
  if (inner instanceof z.ZodString && Array.isArray(value) && value.length === 1) return value[0];
  return value;
}

function numberOf(value: unknown, isOptional: boolean): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (text === '' && isOptional) return undefined;
  return /^-?\d{1,9}(?:\.0+)?$/.test(text) ? Number(text) : value;
}

function booleanOf(value: unknown, isOptional: boolean): unknown {
  if (value === 0 || value === 1) return value === 1;
  if (typeof value !== 'string') return value;
  const text = value.trim().toLowerCase();
  if (text === '' && isOptional) return undefined;
  if (text === 'true' || text === 'yes') return true;
  return text === 'false' || text === 'no' ? false : value;
}

/** Reads a list that was sent as text: JSON, or one item. */
function listOf(text: string): unknown {
  if (text.trim() === '') return [];
  const reading = text.trim().startsWith('[') ? readJson(text) : undefined;
  return Array.isArray(reading?.value) ? reading.value : [text];
}
