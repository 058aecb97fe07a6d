import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { readBuild } from '../../../src/http/pages.ts';

// A service goes on with the build of the dashboard that it has read at its start.

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deckhand-build-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('a build that replaces the first one does not change what is served', async () => {
  mkdirSync(join(folder, 'assets'));
  mkdirSync(join(folder, '.vite'));
  writeFileSync(join(folder, 'index.html'), 'first');
  writeFileSync(join(folder, '.vite/manifest.json'), '{"index.html":{"file":"assets/index-1.js"}}');
  writeFileSync(join(folder, 'assets/index-1.js'), 'one');
  writeFileSync(join(folder, 'assets/page-1.js'), 'page one');
  const { document, manifest, files } = readBuild(folder);
  rmSync(join(folder, 'assets/index-1.js'));
  writeFileSync(join(folder, 'assets/page-1.js'), 'page two');
  expect([document, manifest['index.html']?.file]).toEqual(['first', 'assets/index-1.js']);
  const server = express().use(files).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const get = async (name: string) =>
      (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/assets/${name}`)).text();
    expect([await get('index-1.js'), await get('page-1.js')]).toEqual(['one', 'page one']);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test('without a build there is nothing to serve', () => {
  expect(readBuild(join(folder, 'missing'))).toMatchObject({ document: undefined, manifest: {} });
});
