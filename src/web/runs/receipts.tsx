import { Button } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import type { Receipt, Run } from '../api.ts';
import { TimeAgo } from '../display/times.tsx';
import * as queries from '../live/queries.ts';

/** Offers the signed receipts of a run that has ended. A run that pushed nothing has none, and shows nothing. */
export function Receipts({ run }: { run: Run }) {
  const { data: receipts = [] } = useQuery({ ...queries.receipts(run.id), enabled: run.finishedAt !== null });
  if (receipts.length === 0) return null;
  return (
    <section className="stack tight" aria-label={receipts.length === 1 ? 'Signed receipt' : 'Signed receipts'}>
      <ul>
        {receipts.map((receipt) => (
          <li key={receipt.repositoryId} className="row wrap-row small">
            <p className="wrap">
              Signed receipt for{' '}
              <a href={receipt.prUrl} rel="noopener nofollow" target="_blank">
                {receipt.repositoryName} #{receipt.prUrl.split('/').at(-1)}
              </a>{' '}
              at <code>{receipt.commit.slice(0, 7)}</code>, <TimeAgo at={receipt.createdAt} />
            </p>
            <Button size="small" onClick={() => download(receipt)}>
              Download receipt
            </Button>
          </li>
        ))}
      </ul>
      <p className="muted wrap small">
        Check it with <code>deckhand verify {receipts[0]?.prUrl}</code>
      </p>
    </section>
  );
}

/** Saves the envelope as a file, which `deckhand verify` takes. */
function download({ envelope, commit }: Receipt): void {
  const address = URL.createObjectURL(new Blob([JSON.stringify(envelope, null, 2)], { type: 'application/json' }));
  const link = Object.assign(document.createElement('a'), {
    href: address,
    download: `receipt-${commit.slice(0, 7)}.json`,
  });
  link.click();
  URL.revokeObjectURL(address);
}
