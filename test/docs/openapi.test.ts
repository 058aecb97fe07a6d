import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { openapiText } from '../../src/cli/print-docs.ts';
import { routes } from '../../src/routes.ts';

const root = resolve(import.meta.dirname, '../..');
const document = JSON.parse(openapiText());
type Operation = {
  responses: Record<string, { $ref?: string; content?: Record<string, { example?: unknown }> }>;
  requestBody?: { content: Record<string, { example?: unknown }> };
  parameters?: { name: string }[];
};
const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const),
);

test('the document conforms to the OpenAPI schema', async () => {
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
});

test('the document passes the linter, and its examples are valid', async () => {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // The owner has not chosen a licence yet.
      'info-license': 'off',
      // The API's contract has both /agents/teams/:team and /agents/:id/health.
      'no-ambiguous-paths': 'off',
      'no-invalid-media-type-examples': 'error',
      'no-invalid-schema-examples': 'error',
      'no-unused-components': 'error',
      'operation-operationId-unique': 'error',
    },
  });
  const problems = await lintFromString({ source: openapiText(), config });
  expect(problems.map((p) => `${p.ruleId} ${p.message} ${p.location[0]?.pointer}`)).toEqual([]);
});

test.each(operations)('%s documents its requests and replies with examples', (name, {
  responses,
  requestBody,
  parameters,
}) => {
  const codes = Object.keys(responses);
  expect(codes).toEqual(expect.arrayContaining(['400', '401', '429', '503']));
  if (name.startsWith('post')) {
    expect(codes).toEqual(expect.arrayContaining(['409', '413', '415', '422']));
    expect(parameters?.map((p) => p.name)).toContain('Idempotency-Key');
  }
  if (name.includes('{') && !name.includes('{team}')) expect(codes).toEqual(expect.arrayContaining(['403', '404']));
  for (const media of Object.values(requestBody?.content ?? {})) expect(media.example).toBeDefined();
  for (const { $ref, content } of Object.values(responses))
    if ($ref === undefined) for (const media of Object.values(content ?? {})) expect(media.example).toBeDefined();
});

test('every example of a request body passes the validation of its route', () => {
  for (const { method, path, body } of routes) {
    if (body === undefined) continue;
    const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')][method] as Operation;
    const { example } = operation.requestBody?.content['application/json'] ?? {};
    expect([path, body.safeParse(example).error?.issues ?? []]).toEqual([path, []]);
  }
});

test('the clients of dashboard and command line are generated from the document (npm run docs)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'deckhand-client-'));
  try {
    const made = join(dir, 'api.ts');
    const generator = join(root, 'node_modules/.bin/oazapfts');
    execFileSync(process.execPath, [generator, '--optimistic', join(root, 'docs/openapi.json'), made]);
    for (const client of ['src/web/api.ts', 'client/src/api.ts'])
      expect(readFileSync(join(root, client), 'utf8')).toBe(readFileSync(made, 'utf8'));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
