/** Text that PostgreSQL can store: it knows no NUL and no lone surrogate. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** A value with every text in it storable. */
export function storable<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (_key, v) => (typeof v === 'string' ? storableText(v) : v)));
}

/** The same as JSON text. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, v) => (typeof v === 'string' ? storableText(v) : v));
}
