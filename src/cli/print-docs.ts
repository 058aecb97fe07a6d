import { writeFile } from 'node:fs/promises';
import { openapiDocument } from '../http/documents/openapi.ts';
import { routes } from '../routes.ts';
import { lifecyclePage } from './lifecycle-page.ts';

/** Returns the OpenAPI document with the server `/api/v1`; a running service reports its own address. */
export function openapiText(): string {
  return `${JSON.stringify(openapiDocument(routes, ''), null, 2)}\n`;
}

/** Writes the documents that are generated from the code. A test checks that they are up to date. */
export async function printDocs(): Promise<number> {
  await writeFile(new URL('../../docs/openapi.json', import.meta.url), openapiText());
  await writeFile(new URL('../../docs/lifecycle.md', import.meta.url), lifecyclePage());
  return 0;
}
