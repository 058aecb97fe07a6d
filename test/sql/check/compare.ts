import ts from 'typescript-checker';
import type { Program } from './program.ts';

/** A column as PostgreSQL returns it. */
export interface Returned {
  name: string;
  type: string;
  mayBeNull: boolean;
}

/** What `pg` makes of a value, and what it takes for one, by the type of PostgreSQL. Others are text. */
const kinds: Record<string, { returns: Kind; takes: Kind[] }> = {
  bool: { returns: 'boolean', takes: ['boolean'] },
  int2: { returns: 'number', takes: ['number'] },
  int4: { returns: 'number', takes: ['number'] },
  float4: { returns: 'number', takes: ['number'] },
  float8: { returns: 'number', takes: ['number'] },
  oid: { returns: 'number', takes: ['number'] },
  int8: { returns: 'string', takes: ['number', 'string'] },
  numeric: { returns: 'string', takes: ['number', 'string'] },
  timestamptz: { returns: 'Date', takes: ['Date', 'string'] },
  timestamp: { returns: 'Date', takes: ['Date', 'string'] },
  date: { returns: 'Date', takes: ['Date', 'string'] },
  bytea: { returns: 'bytes', takes: ['bytes'] },
  json: { returns: 'json', takes: ['string', 'object'] },
  jsonb: { returns: 'json', takes: ['string', 'object'] },
};
const asText = { returns: 'string', takes: ['string'] } satisfies (typeof kinds)[string];

type Kind = 'string' | 'number' | 'boolean' | 'Date' | 'bytes' | 'json' | 'array' | 'object' | 'any';

/** Compares types of TypeScript with those of PostgreSQL. */
export class Comparison {
  readonly #checker: ts.TypeChecker;

  readonly #place: Program['place'];
  /** For each declared property: whether a query returns null for it. Queries share rows. */
  readonly #nulls = new Map<ts.Declaration, boolean>();

  constructor({ checker, place }: Program) {
    this.#checker = checker;
    this.#place = place;
  }

  /** Returns the declared properties that may be null, although no query returns null for them. */
  neverNull(): string[] {
    const never = [...this.#nulls].filter(([, isNull]) => !isNull).map(([declaration]) => declaration);
    // The rows of tables are not only those of queries.
    const own = never.filter((declaration) => !declaration.getSourceFile().fileName.includes('/src/db/tables/'));
    return own.map(
      (declaration) =>
        `${this.#place(declaration)}: ${(declaration as ts.NamedDeclaration).name?.getText()} is never null`,
    );
  }

  /** Returns how a declared row differs from the columns that PostgreSQL returns. */
  row(declared: ts.Type, columns: Returned[], at: ts.Node): string[] {
    // A row of `unknown` or `object` is counted, not read.
    if (declared.flags & (ts.TypeFlags.Unknown | ts.TypeFlags.NonPrimitive)) return [];
    if (declared.flags & ts.TypeFlags.Any) return ['its row is not declared'];
    const problems: string[] = [];
    const returned = new Map(columns.map((column) => [column.name, column]));
    for (const property of this.#checker.getPropertiesOfType(declared)) {
      const column = returned.get(property.name);
      const type = this.#checker.getTypeOfSymbolAtLocation(property, at);
      if (column !== undefined) {
        problems.push(...this.#column(column, type));
        this.#noteNull(property, type, column.mayBeNull);
      }
      if (column === undefined && !(property.flags & ts.SymbolFlags.Optional))
        problems.push(`it does not return ${property.name}`);
      returned.delete(property.name);
    }
    return [...problems, ...[...returned.keys()].map((name) => `it returns ${name}, which the row does not declare`)];
  }

  #column({ name, type, mayBeNull }: Returned, declared: ts.Type): string[] {
    const parts = partsOf(declared);
    if (parts.some((part) => part.flags & ts.TypeFlags.Any)) return [`${name} is declared as any`];
    if (parts.some((part) => part.flags & ts.TypeFlags.Unknown)) return [];
    const text = this.#checker.typeToString(declared);
    const wrong = parts.filter((part) => !isNothing(part) && !this.#returns(type, part));
    const kind = kinds[type]?.returns === 'json' ? 'json, which has no Date' : type;
    if (wrong.length > 0) return [`${name} is ${kind}, but declared as ${text}`];
    const declaresNull = parts.some((part) => part.flags & ts.TypeFlags.Null);
    return mayBeNull && !declaresNull ? [`${name} may be null, but is declared as ${text}`] : [];
  }

  #noteNull({ valueDeclaration }: ts.Symbol, type: ts.Type, mayBeNull: boolean): void {
    const declaresNull = partsOf(type).some((part) => part.flags & ts.TypeFlags.Null);
    if (valueDeclaration === undefined || !declaresNull) return;
    this.#nulls.set(valueDeclaration, (this.#nulls.get(valueDeclaration) ?? false) || mayBeNull);
  }

  #returns(type: string, declared: ts.Type): boolean {
    if (type.startsWith('_')) {
      const item = this.#itemOf(declared);
      return item !== undefined && partsOf(item).every((part) => isNothing(part) || this.#returns(type.slice(1), part));
    }
    const { returns } = kinds[type] ?? asText;
    if (returns === 'json') return !this.#hasDate(declared);
    const kind = this.#kindOf(declared);
    return kind === returns || type === 'void';
  }

  /** Whether a type has a date in it, which JSON has not. */
  #hasDate(type: ts.Type, depth = 0): boolean {
    if (type.symbol?.name === 'Date') return true;
    if (depth > 4 || !(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.UnionOrIntersection))) return false;
    if (type.isUnionOrIntersection()) return type.types.some((part) => this.#hasDate(part, depth + 1));
    const item = this.#itemOf(type);
    if (item !== undefined) return this.#hasDate(item, depth + 1);
    return this.#checker
      .getPropertiesOfType(type)
      .some((property) => this.#hasDate(this.#checker.getTypeOfSymbol(property), depth + 1));
  }

  /** Returns what is wrong with the type of a parameter. */
  parameter(number: number, type: string, given: ts.Type): string[] {
    const parts = partsOf(this.#checker.getBaseConstraintOfType(given) ?? given);
    const wrong = parts.some((part) => !isNothing(part) && !this.#takes(type, part));
    return wrong ? [`$${number} is ${type}, but given ${this.#checker.typeToString(given)}`] : [];
  }

  #takes(type: string, given: ts.Type): boolean {
    if (type.startsWith('_')) {
      const item = this.#itemOf(given);
      return item !== undefined && partsOf(item).every((part) => isNothing(part) || this.#takes(type.slice(1), part));
    }
    return (kinds[type] ?? asText).takes.includes(this.#kindOf(given));
  }

  #itemOf(type: ts.Type): ts.Type | undefined {
    const isList = this.#checker.isArrayType(type) || this.#checker.isTupleType(type);
    return isList ? this.#checker.getIndexTypeOfType(type, ts.IndexKind.Number) : undefined;
  }

  #kindOf(type: ts.Type): Kind {
    if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return 'any';
    if (type.flags & ts.TypeFlags.StringLike) return 'string';
    if (type.flags & (ts.TypeFlags.NumberLike | ts.TypeFlags.BigIntLike)) return 'number';
    if (type.flags & ts.TypeFlags.BooleanLike) return 'boolean';
    if (type.isIntersection())
      return type.types.map((part) => this.#kindOf(part)).find((kind) => kind !== 'object') ?? 'object';
    if (type.symbol?.name === 'Date') return 'Date';
    if (['Buffer', 'Uint8Array'].includes(type.symbol?.name ?? '')) return 'bytes';
    return this.#itemOf(type) === undefined ? 'object' : 'array';
  }

  /** Returns whether a parameter may be null, and whether its items may be. */
  nulls(given: ts.Type): { mayBeNull: boolean; itemsMayBeNull: boolean } {
    const hasNothing = (type: ts.Type) =>
      partsOf(type).some((part) => isNothing(part) || part.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown));
    const items = partsOf(given).map((part) => this.#itemOf(part));
    return {
      mayBeNull: hasNothing(given),
      itemsMayBeNull: items.some((item) => item === undefined || hasNothing(item)),
    };
  }
}

const partsOf = (type: ts.Type): ts.Type[] => (type.isUnion() ? type.types : [type]);
const isNothing = (type: ts.Type) =>
  (type.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined | ts.TypeFlags.Never)) !== 0;
