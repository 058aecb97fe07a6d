import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Json } from './description.ts';
import { type Named, readStatements } from './statements.ts';

/** A module of declarations: its types by qualified name, and the modules that it imports. */
interface Module {
  types: Map<string, Named>;
  /** The file of each `import * as` and of each imported name. */
  imports: Map<string, { file: string; isWhole: boolean }>;
}

/**
 * Reads the types of `.d.ts` files as schemas of an OpenAPI description, whose parts are named `folder.module.Type.Inner`. Knows
 * the form in which the client libraries of model servers are generated: interfaces, unions, lists and literals. Generic
 * types other than lists and records are not described, and any value fits them.
 */
export class Declarations {
  readonly schemas: Record<string, Json> = {};
  private readonly modules = new Map<string, Module>();

  /** Returns a reference to a type, and adds the schemas of everything that it refers to. */
  typeIn(file: string, name: string): Json {
    const found = this.find(file, name, '');
    if (found === undefined) throw new Error(`${file} declares no type ${name}`);
    return found;
  }

  /** Follows references. */
  resolve(schema: Json): Json {
    let found = schema;
    while (found.$ref !== undefined) found = this.schemas[found.$ref.slice(prefix.length)] as Json;
    return found;
  }

  /** Returns the fields of an interface, also those of the interfaces that it extends. */
  fields(schema: Json): Record<string, Json> {
    const { properties = {}, allOf = [] } = this.resolve(schema) as {
      properties?: Record<string, Json>;
      allOf?: Json[];
    };
    return Object.assign({}, ...allOf.map((each) => this.fields(each)), properties);
  }

  /** Returns the values that a field of literals may have. */
  values(schema: Json | undefined): unknown[] {
    const all = schema === undefined ? [] : this.members(schema);
    return all.flatMap((each) => this.resolve(each).enum ?? []).filter((value) => value !== null);
  }

  /** Returns the alternatives of a union, also those of the unions in it. */
  members(schema: Json): Json[] {
    const { anyOf } = this.resolve(schema) as { anyOf?: Json[] };
    return anyOf === undefined ? [schema] : anyOf.flatMap((each) => this.members(each));
  }

  /** Finds a type as TypeScript does: in the namespace of the place, in those around it, and in the imports. */
  private find(file: string, name: string, place: string): Json | undefined {
    const { types, imports } = this.moduleAt(file);
    for (let around: string | undefined = place; around !== undefined; around = outer(around)) {
      const qualified = around === '' ? name : `${around}.${name}`;
      const declared = types.get(qualified);
      if (declared !== undefined) return this.refer(file, qualified, declared);
    }
    const [first = '', ...rest] = name.split('.');
    const from = imports.get(first);
    if (from === undefined) return undefined;
    return this.find(from.file, from.isWhole ? rest.join('.') : name, '');
  }

  private refer(file: string, qualified: string, declared: Named): Json {
    const key = `${file.replace(/^.*\/resources\/|\.d\.ts$/g, '').replaceAll('/', '.')}.${qualified}`;
    if (this.schemas[key] === undefined) {
      this.schemas[key] = {};
      // Types refer to each other, so the schema has its place before it is complete.
      Object.assign(this.schemas[key], this.linked(declared.schema, file, declared.place));
    }
    return { $ref: `${prefix}${key}` } as unknown as Json;
  }

  /** Replaces the names of types with references. */
  private linked(part: unknown, file: string, place: string): unknown {
    if (Array.isArray(part)) return part.map((each) => this.linked(each, file, place));
    if (typeof part !== 'object' || part === null) return part;
    const { typeName } = part as { typeName?: unknown };
    if (typeof typeName === 'string') return this.find(file, typeName, place) ?? {};
    return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, this.linked(each, file, place)]));
  }

  private moduleAt(file: string): Module {
    const known = this.modules.get(file);
    if (known !== undefined) return known;
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const made: Module = { types: readStatements(text), imports: importsOf(text, file) };
    this.modules.set(file, made);
    return made;
  }
}

const prefix = '#/components/schemas/';

function outer(place: string): string | undefined {
  if (place === '') return undefined;
  return place.includes('.') ? place.slice(0, place.lastIndexOf('.')) : '';
}

function importsOf(text: string, file: string): Module['imports'] {
  const imports: Module['imports'] = new Map();
  for (const [, whole, names = '', from = ''] of text.matchAll(
    /^import (?:type )?(?:\* as (\w+)|\{([^}]*)\}) from ["'](\.[^"']*)["'];/gm,
  )) {
    const source = join(dirname(file), from.replace(/\.m?js$/, '.d.ts'));
    if (whole !== undefined) imports.set(whole, { file: source, isWhole: true });
    for (const name of names.split(',').map((each) => each.trim().replace(/^type /, '')))
      if (name !== '') imports.set(name, { file: source, isWhole: false });
  }
  return imports;
}
