import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

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

/** Returns the names of GitHub's operations that the service uses, such as `GET /repos/{owner}/{repo}`. */
export function usedOperations(): string[] {
  const named = clients().flatMap((text) => [...text.matchAll(/'((?:GET|POST|PUT|PATCH|DELETE) \/[^']*)'/g)]);
  return [...new Set([...named.map(([, name = '']) => name), ...elsewhere])].sort();
}
