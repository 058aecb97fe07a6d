/** Text that PostgreSQL can store: NUL characters and lone surrogates are replaced by U+FFFD. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** A copy of a JSON value in which every string is storable. */
export function storable<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (_key, v) => (typeof v === 'string' ? storableText(v) : v)));
}

/** The JSON text of a value in which every string is storable. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, v) => (typeof v === 'string' ? storableText(v) : v));
}
