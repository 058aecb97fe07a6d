/** A column of a table or of the result of a statement. */
export interface Column {
  name: string;
  mayBeNull: boolean;
}

/** A table, subquery or function that one statement reads from. */
export class Source {
  readonly name: string;
  readonly #columns: Column[];
  /** Whether its row may be missing, because of an outer join. */
  isOptional = false;

  constructor(name: string, columns: Column[]) {
    this.name = name;
    this.#columns = columns.map((column) => ({ ...column }));
  }

  get columns(): Column[] {
    return this.#columns.map(({ name, mayBeNull }) => ({ name, mayBeNull: mayBeNull || this.isOptional }));
  }

  find(name: string): Column | undefined {
    return this.columns.find((column) => column.name === name);
  }

  set(name: string, mayBeNull: boolean): void {
    for (const column of this.#columns) if (column.name === name) column.mayBeNull = mayBeNull;
    if (!mayBeNull) this.isOptional = false;
  }

  copy(): Source {
    const copy = new Source(this.name, this.#columns);
    copy.isOptional = this.isOptional;
    return copy;
  }
}

/** The tables and subqueries by name that an expression can refer to. */
export class Tables {
  readonly sources: Source[] = [];
  readonly queries = new Map<string, Column[]>();
  readonly outer: Tables | undefined;
  /** Expressions that are known not to be null; see `keyOf`. */
  readonly known = new Set<string>();
  /** Whether each row stands for one or more rows, so that an aggregate of them is not empty. */
  isGrouped = false;

  constructor(outer?: Tables) {
    this.outer = outer;
  }

  query(name: string): Column[] | undefined {
    return this.queries.get(name) ?? this.outer?.query(name);
  }

  source(name: string): Source | undefined {
    return this.sources.find((source) => source.name === name) ?? this.outer?.source(name);
  }

  /** Finds the table of a column that is written without one. */
  ofColumn(name: string): Source | undefined {
    return this.sources.find((source) => source.find(name) !== undefined) ?? this.outer?.ofColumn(name);
  }

  /** Returns a copy in which more may be known about the columns. */
  copy(): Tables {
    const copy = new Tables(this.outer);
    copy.sources.push(...this.sources.map((source) => source.copy()));
    for (const [name, columns] of this.queries) copy.queries.set(name, columns);
    for (const key of this.known) copy.known.add(key);
    copy.isGrouped = this.isGrouped;
    return copy;
  }
}
