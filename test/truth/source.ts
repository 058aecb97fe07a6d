import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { mutationNames } from './graphql.ts';

const root = resolve(import.meta.dirname, '../../src');

/** Operations that libraries and the set-up use; no string of the source names them. */
const elsewhere = ['POST /app/installations/{installation_id}/access_tokens', 'POST /app-manifests/{code}/conversions'];

/** The files of the service that use GitHub's API, with their text. */
function clients(): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/^(demo|web|http)\//.test(file))
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .filter((text) => /octokit/i.test(text));
}

/**
 * Returns the operations in a text: whole strings, and templates such as `POST ${path}/labels` with the nearest string of that
 * name before them.
 * @throws when a template names something else, because an operation would be missed
 */
export function operationsIn(text: string): string[] {
  const whole = [...text.matchAll(/'((?:GET|POST|PUT|PATCH|DELETE) \/[^']*)'/g)].map(([, name = '']) => name);
  const templates = [...text.matchAll(/`(GET|POST|PUT|PATCH|DELETE) \$\{(\w+)\}([^`]*)`/g)];
  const built = templates.map(({ 0: template, 1: method, 2: name = '', 3: rest, index }) => {
    const paths = text.slice(0, index).matchAll(new RegExp(`\\b${name} = '(/[^']*)'`, 'g'));
    const path = [...paths].at(-1)?.[1];
    if (path === undefined || rest?.includes('$'))
      throw new Error(`the operation ${template} cannot be read; write it out`);
    return `${method} ${path}${rest}`;
  });
  return [...whole, ...built];
}

/** Returns the names of GitHub's operations that the service uses, such as `GET /repos/{owner}/{repo}`. */
export function usedOperations(): string[] {
  return [...new Set([...clients().flatMap(operationsIn), ...elsewhere])].sort();
}

/** Returns the names of GraphQL's mutations that the service uses, such as `enqueuePullRequest`. */
export function usedMutations(): string[] {
  const callers = clients().filter((text) => /\.graphql[<(]/.test(text));
  const words = new Set(callers.flatMap((text) => text.match(/\b[a-z]\w+\b/g) ?? []));
  return mutationNames()
    .filter((name) => words.has(name))
    .sort();
}
