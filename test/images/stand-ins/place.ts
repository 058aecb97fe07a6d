import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closedExcept } from '../../../src/host/closed-address.ts';
import { noProxies } from '../../../src/host/proxies.ts';
import { type Images, openImages } from '../../../src/images/images.ts';
import { type Credentials, checkedRegistryAddress } from '../../../src/images/registry/authorize.ts';
import { pinnedFetch } from '../../../src/outgoing/pinned-fetch.ts';
import { removeTree } from '../../../src/sandbox/neutral-path.ts';
import type { MadeImage } from './made-image.ts';
import { type Instead, startRegistry } from './registry.ts';

export interface PlaceOptions {
  megabytes?: number;
  keptBytes?: number;
  /** Ranges of addresses that the operator has opened. */
  open?: string[];
  defaultRegistry?: string;
  hasSandbox?: boolean;
}

interface Asking {
  auth?: Credentials | undefined;
  signal?: AbortSignal;
  /** Gets the lines for the run's log. */
  notes?: string[];
}

/** A folder of a test in which images are kept. */
export function openPlace() {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-images-'));
  chmodSync(folder, 0o711);
  const kept = join(folder, 'images');
  return {
    folder,
    kept,
    entriesKept: () => (existsSync(kept) ? readdirSync(kept) : []),
    openImages: (options: PlaceOptions = {}) => {
      const {
        megabytes = 100,
        keptBytes = Number.POSITIVE_INFINITY,
        open = ['127.0.0.1/32'],
        defaultRegistry,
        hasSandbox = true,
      } = options;
      const isClosed = closedExcept({ allowPrivateHosts: false, open });
      const send = pinnedFetch(checkedRegistryAddress({ isClosed, allowPrivateHosts: false, proxies: noProxies }));
      return openImages({
        folder: kept,
        limits: { megabytes },
        keptBytes,
        defaultRegistry,
        send,
        hasSandbox,
        removeTree,
      });
    },
    take: (images: Images, name: string, { auth, signal = new AbortController().signal, notes = [] }: Asking = {}) =>
      images.take(name, auth, signal, (line) => notes.push(line)),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Call it once in a test file: opens a place, and closes it and the registries that the tests have started. */
export async function imagePlace(what: string) {
  const place = openPlace();
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });
  afterAll(() => place.close());
  const { state } = await place.openImages();
  if (!state.works) console.warn(`${what} are not tested: ${state.says}`);
  return {
    ...place,
    /** Declares a test that is skipped on machines that cannot run images. */
    ifPossible: state.works ? test : test.skip,
    /** Starts a registry for the rest of the test. */
    serve: async (images: Record<string, MadeImage>, instead?: Instead) => {
      const registry = await startRegistry(images, instead);
      closing.push(registry.close);
      return registry;
    },
  };
}
