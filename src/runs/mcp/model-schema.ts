/** The schema of a tool's arguments. Everything in it was written by the tool's server. */
type Schema = Record<string, unknown>;

const types = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
/** The names that model servers accept for arguments. */
const propertyName = /^[A-Za-z0-9_.-]{1,64}$/;

/** Schemas are read up to this depth and this many parts. What lies beyond may be anything. */
const maxDepth = 8;
const maxParts = 500;
const maxDescription = 500;
const maxChoices = 100;
const maxChoiceChars = 200;
/** A schema that is still longer than this is replaced by one that allows any arguments. */
const maxChars = 10_000;

const anyArguments: Schema = { type: 'object', properties: {} };

/**
 * Rebuilds the schema of a tool's arguments from the few keywords that all model servers understand. A model server
 * refuses the whole request for one invalid schema, so a wrong or hostile one must not reach it. References within the
 * schema are replaced by what they refer to.
 */
export function modelSchema(given: unknown): Schema {
  const read = new Reader(given);
  const schema = read.schema(given, 0);
  if (schema.type !== 'object') return anyArguments;
  const whole = { properties: {}, ...schema };
  return JSON.stringify(whole).length > maxChars ? anyArguments : whole;
}

class Reader {
  readonly #root: unknown;
  #parts = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  schema(given: unknown, depth: number): Schema {
    this.#parts += 1;
    if (depth > maxDepth || this.#parts > maxParts || !isObject(given)) return {};
    const target = this.#referred(given) ?? onlyOne(given.allOf);
    if (target !== undefined) return this.schema(target, depth + 1);
    return {
      ...typeOf(given.type),
      ...(typeof given.description === 'string' ? { description: given.description.slice(0, maxDescription) } : {}),
      ...choices(given.enum ?? (given.const === undefined ? undefined : [given.const])),
      ...this.#properties(given, depth),
      ...this.#items(given, depth),
      ...this.#alternatives(given.anyOf ?? given.oneOf, depth),
    };
  }

  /** Finds what `{ "$ref": "#/$defs/Name" }` refers to. */
  #referred({ $ref }: Schema): unknown {
    const [, group = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]{1,200})$/.exec(String($ref ?? '')) ?? [];
    const known = isObject(this.#root) ? this.#root[group] : undefined;
    return isObject(known) && Object.hasOwn(known, name) ? known[name] : undefined;
  }

  #properties({ properties, required }: Schema, depth: number): Schema {
    if (!isObject(properties)) return {};
    const names = Object.keys(properties).filter((name) => propertyName.test(name) && name !== '__proto__');
    const needed = Array.isArray(required) ? names.filter((name) => required.includes(name)) : [];
    return {
      properties: Object.fromEntries(names.map((name) => [name, this.schema(properties[name], depth + 1)])),
      ...(needed.length > 0 ? { required: needed } : {}),
    };
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
  const known = [given].flat().filter((each): each is string => typeof each === 'string' && types.has(each));
  const [first, ...more] = [...new Set(known)];
  if (first === undefined) return {};
  return { type: more.length === 0 ? first : [first, ...more] };
}

function choices(given: unknown): Schema {
  if (!Array.isArray(given)) return {};
  const isFit = (each: unknown) =>
    typeof each === 'string' ? each.length <= maxChoiceChars : ['number', 'boolean'].includes(typeof each);
  const fit = [...new Set(given.filter(isFit))];
  // If some choices cannot be shown, all are left out, because the model would take the others for the only ones.
  return fit.length > 0 && fit.length <= maxChoices && fit.length === new Set(given).size ? { enum: fit } : {};
}

function onlyOne(given: unknown): unknown {
  return Array.isArray(given) && given.length === 1 ? given[0] : undefined;
}

function isObject(given: unknown): given is Schema {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}
