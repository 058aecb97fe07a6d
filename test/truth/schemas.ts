import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { Description, Json } from './description.ts';

/** Checks values against the schemas of GitHub's description. Each schema is compiled when it is first needed. */
export class Schemas {
  private readonly description: Description;
  private readonly strict: Compiler;
  private readonly lenient: Compiler;

  constructor(description: Description) {
    this.description = description;
    this.strict = new Compiler(description, true);
    this.lenient = new Compiler(description, false);
  }

  /** Returns what is wrong with a value that we send. Unknown fields are wrong, because GitHub would ignore them. */
  sent(schema: Json, value: unknown): string[] {
    return [...this.check(schema, value, true), ...this.unknown([schema], value, '')];
  }

  /** The same for an answer of a stand-in. It may leave fields out, but those it has must be right. */
  answered(schema: Json, value: unknown): string[] {
    return [...this.check(schema, value, false), ...this.unknown([schema], value, '')];
  }

  private check(schema: Json, value: unknown, isStrict: boolean): string[] {
    const compiler = isStrict ? this.strict : this.lenient;
    const validate = compiler.of(schema);
    if (validate(value)) return [];
    const errors = (validate.errors ?? []).filter(({ keyword }, _, all) => keyword !== 'anyOf' || all.length === 1);
    return errors.map(({ instancePath, message, params }) => {
      const allowed = (params as { allowedValues?: unknown[] }).allowedValues;
      return `${instancePath || 'the value'} ${message}${allowed ? ` (${allowed.join(', ')})` : ''}`;
    });
  }

  /** Lists the fields of a value that none of the schemas has. */
  private unknown(schemas: Json[], value: unknown, at: string): string[] {
    if (typeof value !== 'object' || value === null) return [];
    const parts = schemas.flatMap((each) => this.alternatives(each));
    if (Array.isArray(value)) {
      const items = parts.flatMap(({ items: of }) => (of === undefined ? [] : [of]));
      return items.length === 0 ? [] : [...new Set(value.flatMap((each) => this.unknown(items, each, `${at}[]`)))];
    }
    const isOpen = parts.some(
      ({ properties, additionalProperties: more }) => !properties || (more as unknown) === true,
    );
    if (isOpen || parts.length === 0) return [];
    return Object.entries(value).flatMap(([name, each]) => {
      const found = parts.flatMap(({ properties, additionalProperties }) => {
        const of = properties?.[name] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
        return of === undefined ? [] : [of];
      });
      const path = at === '' ? name : `${at}.${name}`;
      return found.length === 0 ? [`${path} is not a field of GitHub's`] : this.unknown(found, each, path);
    });
  }

  private alternatives(schema: Json): Json[] {
    const { allOf, anyOf, oneOf, ...rest } = this.description.resolve(schema);
    const several = [allOf, anyOf, oneOf].flatMap((each) => (each ?? []) as unknown as Json[]);
    const own = 'properties' in rest || 'items' in rest || several.length === 0 ? [rest as Json] : [];
    return [...own, ...several.flatMap((each) => this.alternatives(each))];
  }
}

/** Compiles the schemas of an OpenAPI 3.0 description. The named schemas to which several refer are compiled once. */
class Compiler {
  private readonly ajv: Ajv;
  private readonly description: Description;
  private readonly isStrict: boolean;
  private readonly compiled = new Map<Json, ValidateFunction>();
  private readonly known = new Set<string>();

  constructor(description: Description, isStrict: boolean) {
    this.description = description;
    this.isStrict = isStrict;
    const quiet = { validateSchema: false, logger: false, addUsedSchema: false } as const;
    this.ajv = new Ajv({ ...quiet, strict: false, allErrors: true, inlineRefs: false, unicodeRegExp: false });
    (addFormats as unknown as (of: Ajv, formats: string[]) => void)(this.ajv, ['date-time', 'date']);
  }

  of(schema: Json): ValidateFunction {
    const known = this.compiled.get(schema) ?? this.ajv.compile(this.convert(schema) as object);
    this.compiled.set(schema, known);
    return known;
  }

  /** Converts a schema to JSON Schema, where null is a type. Unless strict, its required fields become optional. */
  private convert(part: unknown): unknown {
    if (Array.isArray(part)) return part.map((each) => this.convert(each));
    if (typeof part !== 'object' || part === null) return part;
    const { $ref, nullable, ...rest } = part as Json;
    if ($ref !== undefined) return { $ref: this.named($ref) };
    const kept = Object.entries(rest).filter(([name]) => !explaining.has(name));
    const made = Object.fromEntries(
      kept.map(([name, each]) => [name, name === 'properties' ? this.properties(each as Json) : this.convert(each)]),
    ) as Json;
    if (!this.isStrict && Array.isArray(made.required)) delete made.required;
    // Without its required fields, a value may fit several of the alternatives.
    if (!this.isStrict && made.oneOf !== undefined && made.anyOf === undefined) {
      made.anyOf = made.oneOf;
      delete made.oneOf;
    }
    if (nullable === undefined) return made;
    const { type, enum: values } = made;
    if (typeof type !== 'string') return { anyOf: [{ enum: [null] }, made] };
    return { ...made, type: [type, 'null'], ...(values === undefined ? {} : { enum: [...values, null] }) };
  }

  /** Fields may be called `description` or `default` too. */
  private properties(fields: Json): object {
    return Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, this.convert(each)]));
  }

  private named($ref: string): string {
    const key = `github:${$ref.split('/').pop()}`;
    if (!this.known.has(key)) {
      this.known.add(key);
      this.ajv.addSchema(this.convert(this.description.resolve({ $ref } as Json)) as object, key);
    }
    return key;
  }
}

const explaining = new Set(['description', 'title', 'example', 'examples', 'default', 'externalDocs']);
