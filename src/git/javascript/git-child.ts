// The program of the process that checkout-process.ts starts. It holds one checkout and ends when the service does.

import { type Checkout, GitFailed, type Remote } from '../engine.ts';
import { UnfitWorkTree } from '../work-tree/read-inside.ts';
import { isomorphicGit } from './isomorphic.ts';

/** A call to this process. The first one is `listBranches` or `open`. */
export type Question =
  | { id: number; method: 'listBranches'; args: [Remote] }
  | { id: number; method: 'open'; args: [Remote, { gitDir: string; workTree: string }] }
  | { id: number; method: keyof Checkout; args: unknown[] };

export type ChildAnswer =
  | { id: number; value: unknown }
  | {
      id: number;
      failed: { by: 'git'; fault: GitFailed['fault']; retryAfterMs: number | undefined } | { by: 'work tree' | 'us' };
      message: string;
    };

const engine = isomorphicGit();
let checkout: Checkout | undefined;

async function answer({ method, args }: Question): Promise<unknown> {
  if (method === 'listBranches') return engine.listBranches(...(args as [Remote]));
  if (method === 'open') {
    checkout = await engine.open(...(args as Parameters<typeof engine.open>));
    return undefined;
  }
  const act = checkout?.[method as keyof Checkout] as ((...args: unknown[]) => Promise<unknown>) | undefined;
  if (act === undefined) throw new Error(`the checkout has no method ${method}, or was not opened`);
  return act(...args);
}

function failure(error: unknown): Omit<Extract<ChildAnswer, { failed: unknown }>, 'id'> {
  const { message } = error as Error;
  if (error instanceof GitFailed) {
    const { fault, retryAfterMs } = error;
    return { failed: { by: 'git', fault, retryAfterMs }, message };
  }
  return { failed: { by: error instanceof UnfitWorkTree ? 'work tree' : 'us' }, message };
}

process.on('message', (question: Question) => {
  answer(question).then(
    (value) => process.send?.({ id: question.id, value }),
    (error) => process.send?.({ id: question.id, ...failure(error) }),
  );
});
process.on('disconnect', () => process.exit());
// Reports that the process has started. The id 0 belongs to no call.
process.send?.({ id: 0, value: 'started' });
