import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closedExcept } from '../../../src/host/closed-address.ts';
import { type Images, openImages } from '../../../src/images/images.ts';
import type { Credentials } from '../../../src/images/registry/authorize.ts';
import { checkedAddress } from '../../../src/images/registry/checked-address.ts';
import { pinnedFetch } from '../../../src/outgoing/pinned-fetch.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';

export interface PlaceOptions {
  megabytes?: number;
  keptBytes?: number;
  /** Ranges of addresses that the operator has opened. */
  open?: string[];
  defaultRegistry?: string;
  hasSandbox?: boolean;
}

interface Asking {
  auth?: Credentials;
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
      const send = pinnedFetch(checkedAddress(isClosed));
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
    take: (images: Images, name: string, { auth, signal = AbortSignal.timeout(25_000), notes = [] }: Asking = {}) =>
      images.take(name, auth, signal, (line) => notes.push(line)),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
