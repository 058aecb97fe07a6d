import { writeFile } from 'node:fs/promises';
import { lifecyclePage } from '../domain/lifecycle-page.ts';
import { openapiDocument } from '../http/documents/openapi.ts';
import { routes } from '../routes.ts';

/** The server stands in it as `/api/v1`; a running service puts its own address there. */
export function openapiText(): string {
  return `${JSON.stringify(openapiDocument(routes, ''), null, 2)}\n`;
}

/** Prints the documents that come from the code; a test holds that they are current. */
export async function printDocs(): Promise<number> {
  await writeFile(new URL('../../docs/openapi.json', import.meta.url), openapiText());
  await writeFile(new URL('../../docs/lifecycle.md', import.meta.url), lifecyclePage());
  return 0;
}
