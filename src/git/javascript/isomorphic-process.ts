import { type Checkout, type GitEngine, GitFailed } from '../engine.ts';
import { type ChildSettings, GitChild } from './checkout-process.ts';

const methods = [
  ...['fetch', 'fetchCommit', 'checkout', 'remember', 'snapshot', 'treeOf', 'changes', 'readFile', 'readBlobs'],
  ...[
    'listFolder',
    'files',
    'writeBlob',
    'replaceFiles',
    'export',
    'ignoredIn',
    'commit',
    'mergeBase',
    'mergeBases',
    'commitsSince',
    'merge',
    'isAncestor',
    'push',
    'pushAside',
    'removeAside',
    'renewToken',
  ],
] as Exclude<keyof Checkout, 'gitDir' | 'workTree' | 'close'>[];

/** The process of one repository. With the usual limits, a repository of 100 MB fits. */
interface Settings extends ChildSettings {
  /** Size of one response of a remote, which is held in memory. */
  maxAnswerBytes: number;
}

const usual: Settings = { processMb: 1024, environment: {}, maxAnswerBytes: 200_000_000 };

/**
 * Runs isomorphic-git in a separate process for each checkout, because it holds whole packs in memory and computes for
 * seconds, which must not block or crash the service. The process has an empty environment,
 * but for the certificates to trust. It ends at `close`, when
 * the signal aborts, when the service ends, or when it exceeds its memory limit.
 */
export function isomorphicProcess(given: Partial<Settings> = {}): GitEngine {
  const { maxAnswerBytes, ...settings } = { ...usual, ...given };
  return {
    name: 'isomorphic',
    // Loaded only now, because a service with an installed git does not need it.
    version: async () => (await import('./isomorphic.ts')).isomorphicGit().version(),
    listBranches: async (remote, signal) => {
      signal?.throwIfAborted();
      const child = new GitChild(settings, remote, signal);
      try {
        return (await child.ask('listBranches', [{ ...remote, maxAnswerBytes }])) as Map<string, string>;
      } finally {
        child.end(closed());
      }
    },
    open: async (remote, folders, signal) => {
      signal?.throwIfAborted();
      const child = new GitChild(settings, remote, signal);
      await child.ask('open', [{ ...remote, maxAnswerBytes }, folders]).catch((error) => {
        child.end(closed());
        throw error;
      });
      const asked = methods.map((method) => [method, (...args: unknown[]) => child.ask(method, args)]);
      return { ...folders, ...Object.fromEntries(asked), close: async () => child.end(closed()) };
    },
  };
}

const closed = () => new GitFailed('broken', 'git: the checkout is closed');
