import type { Json } from './description.ts';

/** A declared type. Names of other types are `{ typeName }`, to be looked up from the namespace `place`. */
export interface Named {
  schema: Json;
  place: string;
}

/** Reads the interfaces and type aliases of a `.d.ts` file, by qualified name. Leaves out classes and functions. */
export function readStatements(text: string): Map<string, Named> {
  const types = new Map<string, Named>();
  new Reader(tokensOf(text)).statements('', types);
  return types;
}

/** Strings, names with dots, numbers, and single characters. Comments are left out. */
const token =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*|-?\d+(?:\.\d+)?|=>|[^\s]/g;

function tokensOf(text: string): string[] {
  return (text.match(token) ?? []).filter((each) => !/^\/[*/]/.test(each));
}

const simple: Record<string, object> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  true: { enum: [true] },
  false: { enum: [false] },
  null: { enum: [null] },
  undefined: { enum: [null] },
  unknown: {},
  any: {},
  object: { type: 'object' },
};

const opening = new Set(['{', '(', '[', '<']);
const closing = new Set(['}', ')', ']', '>']);

class Reader {
  private readonly tokens: string[];
  private at = 0;

  constructor(tokens: string[]) {
    this.tokens = tokens;
  }

  /** Reads statements up to the end of a namespace. */
  statements(place: string, types: Map<string, Named>): void {
    while (this.at < this.tokens.length && this.peek() !== '}') {
      while (this.skipIf('export') || this.skipIf('declare'));
      this.statement(place, types);
    }
  }

  private statement(place: string, types: Map<string, Named>): void {
    const name = place === '' ? this.peek(1) : `${place}.${this.peek(1)}`;
    switch (`${this.peek()} ${this.peek(2)}`) {
      case 'interface {':
      case 'interface extends':
        types.set(name, { schema: this.interface(), place });
        break;
      case 'type =':
        types.set(name, { schema: this.alias(), place });
        break;
      case 'namespace {':
        this.at += 3;
        this.statements(name, types);
        this.at++;
        break;
      // Also generic types, which have their parameters there.
      default:
        this.skipStatement();
    }
  }

  private peek(ahead = 0): string {
    return this.tokens[this.at + ahead] ?? '';
  }

  private next(): string {
    return this.tokens[this.at++] ?? '';
  }

  private skipIf(wanted: string): boolean {
    if (this.peek() !== wanted) return false;
    this.at++;
    return true;
  }

  /** Reads over the rest of a statement: up to a semicolon, or to the end of its braces. */
  private skipStatement(): void {
    for (let depth = 0; this.at < this.tokens.length; ) {
      if (depth === 0 && this.peek() === '}') return;
      const each = this.next();
      if (opening.has(each)) depth++;
      if (closing.has(each)) depth--;
      const isEnd = depth === 0 && (each === ';' || (each === '}' && ![';', 'from'].includes(this.peek())));
      if (isEnd) return;
    }
  }

  private alias(): Json {
    this.at += 3;
    const read = this.union();
    this.skipIf(';');
    return read;
  }

  private interface(): Json {
    const bases: Json[] = [];
    this.at += 2;
    while (this.skipIf('extends') || this.skipIf(',')) bases.push(this.primary());
    const own = this.members();
    return bases.length === 0 ? own : jsonOf({ allOf: [...bases, own] });
  }

  /** Reads the fields of an interface or of an object. */
  private members(): Json {
    const properties: Record<string, Json> = {};
    const required: string[] = [];
    const read: Record<string, unknown> = {};
    this.at++;
    while (!this.skipIf('}')) {
      if (this.peek() === '[') read.additionalProperties = this.signature();
      else {
        const [name, value, isRequired] = this.field();
        properties[name] = value;
        if (isRequired) required.push(name);
      }
      this.skipIf(';');
    }
    if (Object.keys(properties).length > 0) Object.assign(read, { properties, required });
    return Object.keys(read).length === 0 ? {} : jsonOf({ type: 'object', ...read });
  }

  /** Reads `[key: string]: Type`. */
  private signature(): Json {
    while (!this.skipIf(']')) this.at++;
    this.at++;
    return this.union();
  }

  private field(): [name: string, value: Json, isRequired: boolean] {
    if (this.peek() === 'readonly' && this.peek(1) !== ':' && this.peek(1) !== '?') this.at++;
    const name = unquoted(this.next());
    const isRequired = !this.skipIf('?');
    this.at++;
    return [name, this.union(), isRequired];
  }

  private union(): Json {
    this.skipIf('|');
    const all = [this.intersection()];
    while (this.skipIf('|')) all.push(this.intersection());
    return all.length === 1 ? (all[0] ?? {}) : jsonOf({ anyOf: all });
  }

  /** `string & {}` accepts any string; the empty object is there for editors only. */
  private intersection(): Json {
    const all = [this.listed()];
    while (this.skipIf('&')) all.push(this.listed());
    const parts = all.filter((each) => Object.keys(each).length > 0);
    return parts.length > 1 ? jsonOf({ allOf: parts }) : (parts[0] ?? {});
  }

  private listed(): Json {
    let read = this.primary();
    while (this.peek() === '[' && this.peek(1) === ']') {
      this.at += 2;
      read = jsonOf({ type: 'array', items: read });
    }
    return read;
  }

  private primary(): Json {
    const first = this.peek();
    if (first === '{') return this.members();
    this.at++;
    if (first === '(') {
      const inner = this.union();
      this.at++;
      return inner;
    }
    if (/^['"]/.test(first)) return jsonOf({ enum: [unquoted(first)] });
    if (/^-?\d/.test(first)) return jsonOf({ enum: [Number(first)] });
    const known = Object.hasOwn(simple, first) ? simple[first] : undefined;
    if (known !== undefined) return jsonOf(known);
    return this.peek() === '<' ? this.generic(first) : jsonOf({ typeName: first });
  }

  private generic(name: string): Json {
    this.at++;
    const given = [this.union()];
    while (this.skipIf(',')) given.push(this.union());
    this.at++;
    if (name === 'Array') return jsonOf({ type: 'array', items: given[0] });
    if (name === 'Record') return jsonOf({ type: 'object', additionalProperties: given[1] });
    return {};
  }
}

/** The type of schemas is that of all JSON objects. */
const jsonOf = (schema: object) => schema as Json;
const unquoted = (text: string) => text.replace(/^['"]|['"]$/g, '');
