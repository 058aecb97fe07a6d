/** Returns text that PostgreSQL can store: replaces NUL characters and lone surrogates by U+FFFD. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Copies a JSON value and makes every string in it storable in PostgreSQL. */
export function storable<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (_key, v) => (typeof v === 'string' ? storableText(v) : v)));
}

/** Converts a value to JSON and makes every string in it storable in PostgreSQL. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, v) => (typeof v === 'string' ? storableText(v) : v));
}
