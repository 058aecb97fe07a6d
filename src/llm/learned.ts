import type { Wire } from './model.ts';

/** What a server has shown about one model. */
export interface Learned {
  /** The API that works, once the server has refused the other one. */
  wire?: Wire;
  /** The tokens that fit into a request and its answer. */
  window?: number | undefined;
  /** What later requests leave out because the server refused it: fields, `messages.<field>`, or `images`. */
  refused: Set<string>;
}

/** Beyond this many models the one learned first is forgotten, and learned again when it is used. */
const maxModels = 1000;

/** Remembers, while the process runs, what servers have shown; by base URL and model. */
export function openMemory(): (baseUrl: string, model: string) => Learned {
  const all = new Map<string, Learned>();
  return (baseUrl, model) => {
    const key = JSON.stringify([baseUrl, model]);
    const known = all.get(key) ?? { refused: new Set() };
    all.set(key, known);
    const [oldest] = all.keys();
    if (all.size > maxModels && oldest !== undefined) all.delete(oldest);
    return known;
  };
}
