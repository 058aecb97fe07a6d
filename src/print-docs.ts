import { writeFile } from 'node:fs/promises';
import { lifecyclePage } from './domain/lifecycle-page.ts';
import { openapiDocument } from './http/openapi.ts';
import { routes } from './routes.ts';

/** The address that stands in the printed document; a running service puts its own there. */
const exampleUrl = 'http://localhost:3000';

export function openapiText(): string {
  return `${JSON.stringify(openapiDocument(routes, exampleUrl), null, 2)}\n`;
}

/** Prints the documents that come from the code; a test holds that they are current. */
export async function printDocs(): Promise<number> {
  await writeFile(new URL('../docs/openapi.json', import.meta.url), openapiText());
  await writeFile(new URL('../docs/lifecycle.md', import.meta.url), lifecyclePage());
  return 0;
}
