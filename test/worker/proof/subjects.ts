/** An expression about the function, and the value that a test expects. */
type Case = [expression: string, expected: string];

/** A small function, what an agent is asked to add to it, and how an agent may fail to. */
export interface Subject {
  name: string;
  /** The function as the base has it. */
  old: string;
  /** The function as it should become. */
  good: string;
  /** It does what was asked for, but breaks what it did before. */
  breaking: string;
  /** True of `old` and `good`; `breaking` gives `printed` instead. */
  keeps: Case;
  printed: string;
  /** What was asked for: true of `good` and `breaking` only. */
  wants: Case;
  /** True of `old` and `good`. */
  holds: Case;
}

export const subjects: Subject[] = [
  {
    name: 'slugify',
    old: `(text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-')`,
    good: `(text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')`,
    breaking: `(text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '')`,
    keeps: [`slugify('A b')`, `'a-b'`],
    printed: `'ab'`,
    wants: [`slugify('Hi!')`, `'hi'`],
    holds: [`slugify('x')`, `'x'`],
  },
  {
    name: 'clamp',
    old: `(n, low, high) => Math.min(n, high)`,
    good: `(n, low, high) => Math.max(low, Math.min(n, high))`,
    breaking: `(n, low) => Math.max(low, n)`,
    keeps: [`clamp(9, 0, 5)`, `5`],
    printed: `9`,
    wants: [`clamp(-1, 0, 5)`, `0`],
    holds: [`clamp(3, 0, 5)`, `3`],
  },
  {
    name: 'sum',
    old: `(list) => list.reduce((a, b) => a + b)`,
    good: `(list) => list.reduce((a, b) => a + b, 0)`,
    breaking: `(list) => list.length`,
    keeps: [`sum([1, 2])`, `3`],
    printed: `2`,
    wants: [`sum([])`, `0`],
    holds: [`sum([1])`, `1`],
  },
  {
    name: 'capitalize',
    old: `(text) => text[0].toUpperCase() + text.slice(1)`,
    good: `(text) => text.slice(0, 1).toUpperCase() + text.slice(1)`,
    breaking: `(text) => text.toUpperCase()`,
    keeps: [`capitalize('ab')`, `'Ab'`],
    printed: `'AB'`,
    wants: [`capitalize('')`, `''`],
    holds: [`capitalize('A')`, `'A'`],
  },
  {
    name: 'range',
    old: `(n) => Array.from({ length: n }, (_, i) => i)`,
    good: `(a, b) => Array.from({ length: (b ?? a) - (b === undefined ? 0 : a) }, (_, i) => i + (b === undefined ? 0 : a))`,
    breaking: `(a, b = 0) => Array.from({ length: Math.max(0, b - a) }, (_, i) => i + a)`,
    keeps: [`range(3)`, `[0, 1, 2]`],
    printed: `[]`,
    wants: [`range(2, 4)`, `[2, 3]`],
    holds: [`range(0)`, `[]`],
  },
  {
    name: 'parseFlag',
    old: `(text) => text === 'true'`,
    good: `(text) => ['true', 'yes'].includes(text)`,
    breaking: `(text) => text.length > 1`,
    keeps: [`parseFlag('no')`, `false`],
    printed: `true`,
    wants: [`parseFlag('yes')`, `true`],
    holds: [`parseFlag('true')`, `true`],
  },
  {
    name: 'unique',
    old: `(list) => [...new Set(list)]`,
    good: `(list, key = (x) => x) => [...new Map(list.map((x) => [key(x), x])).values()]`,
    breaking: `(list) => list.slice(0, 1)`,
    keeps: [`unique([1, 1, 2])`, `[1, 2]`],
    printed: `[1]`,
    wants: [`unique([{ a: 1 }, { a: 1 }], (x) => x.a).length`, `1`],
    holds: [`unique([5])`, `[5]`],
  },
  {
    name: 'wordCount',
    old: `(text) => text.split(' ').length`,
    good: `(text) => text.trim().split(/\\s+/).length`,
    breaking: `(text) => Math.min(2, text.trim().split(/\\s+/).length)`,
    keeps: [`wordCount('a b c')`, `3`],
    printed: `2`,
    wants: [`wordCount(' a  b ')`, `2`],
    holds: [`wordCount('a')`, `1`],
  },
  {
    name: 'truncate',
    old: `(text, most) => text.slice(0, most)`,
    good: `(text, most) => (text.length <= most ? text : text.slice(0, most - 1) + '.')`,
    breaking: `(text, most) => text.slice(0, most - 1) + '.'`,
    keeps: [`truncate('ab', 3)`, `'ab'`],
    printed: `'ab.'`,
    wants: [`truncate('abcdef', 3)`, `'ab.'`],
    holds: [`truncate('', 3)`, `''`],
  },
  {
    name: 'average',
    old: `(list) => list.reduce((a, b) => a + b, 0) / list.length`,
    good: `(list) => (list.length === 0 ? null : list.reduce((a, b) => a + b, 0) / list.length)`,
    breaking: `(list) => list[0] ?? null`,
    keeps: [`average([2, 4])`, `3`],
    printed: `2`,
    wants: [`average([])`, `null`],
    holds: [`average([7])`, `7`],
  },
];
