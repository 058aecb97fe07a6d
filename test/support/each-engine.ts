import { join } from 'node:path';
import type { Checkout, GitEngine, Remote } from '../../src/git/engine.ts';
import { isomorphicProcess } from '../../src/git/javascript/isomorphic-process.ts';
import { nativeGit } from '../../src/git/native/native.ts';
import { serveSampleRepository } from './git.ts';
import { isThorough } from './thorough.ts';

/** Author and time of the commits in these tests. */
export const author = { name: 'bot[bot]', email: '1+bot[bot]@users.noreply.github.com' };
export const at = new Date('2026-01-02T03:04:05Z');

interface Given {
  engine: GitEngine;
  /** A git server with a fresh sample repository for each test. */
  host: Awaited<ReturnType<typeof serveSampleRepository>>;
  remote(): Remote;
  /** Creates a new checkout of its default branch. */
  open(): Promise<{ checkout: Checkout; base: string }>;
}

/** Runs the same tests for each git engine; if they are slow, for the second one only in a thorough run. */
export function forEachEngine(tests: (given: Given) => void, isSlow = false): void {
  describeEngine(describe, 'native', nativeGit, tests);
  describeEngine(isSlow && !isThorough ? describe.skip : describe, 'isomorphic', isomorphicProcess, tests);
}

function describeEngine(
  declare: (name: string, body: () => void) => void,
  name: string,
  make: () => GitEngine,
  tests: (given: Given) => void,
): void {
  declare(name, () => {
    const given = { engine: make() } as Given;
    const opened: Checkout[] = [];
    beforeEach(async () => {
      given.host = await serveSampleRepository();
    });
    afterEach(async () => {
      for (const checkout of opened.splice(0)) await checkout.close();
      given.host.close();
    });
    given.remote = () => ({ url: given.host.url, token: 'good-token' });
    given.open = async () => {
      const folder = join(given.host.root, `c${opened.length}`);
      const folders = { gitDir: join(folder, 'git'), workTree: join(folder, 'work') };
      const checkout = await given.engine.open(given.remote(), folders);
      opened.push(checkout);
      const base = (await checkout.fetch('main')) ?? '';
      await checkout.checkout(base);
      return { checkout, base };
    };
    tests(given);
  });
}
