import { traced } from '../tracing/traced.ts';
import type { Checkout, GitEngine, Remote } from './engine.ts';

/** The operations that talk to a remote, or take long in a large repository. */
const recorded = [
  'fetch',
  'fetchPull',
  'fetchCommit',
  'history',
  'refs',
  'checkout',
  'snapshot',
  'export',
  'commit',
  'merge',
  'mergeBase',
  'mergeBases',
  'push',
  'pushAside',
  'removeAside',
] as const satisfies (keyof Checkout)[];

/** Wraps an engine so that its longer operations are spans of the current trace. They name the host and no branch. */
export function tracedEngine(engine: GitEngine): GitEngine {
  const attributesOf = ({ url }: Remote) => ({
    'server.address': URL.parse(url)?.hostname,
    'deckhand.git.engine': engine.name,
  });
  return {
    ...engine,
    listBranches: (remote, signal) =>
      traced('git listBranches', attributesOf(remote), () => engine.listBranches(remote, signal)),
    open: async (remote, folders, signal) => {
      const attributes = attributesOf(remote);
      const checkout = await traced('git open', attributes, () => engine.open(remote, folders, signal));
      const wrapped = recorded.flatMap((name) => {
        const act = checkout[name] as ((...args: unknown[]) => Promise<unknown>) | undefined;
        return act === undefined
          ? []
          : [[name, (...args: unknown[]) => traced(`git ${name}`, attributes, () => act(...args))]];
      });
      return { ...checkout, ...(Object.fromEntries(wrapped) as Partial<Checkout>) };
    },
  };
}
