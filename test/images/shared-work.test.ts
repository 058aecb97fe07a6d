import { sharedWork } from '../../src/images/images.ts';

const never = () => new AbortController().signal;

/** Work that ends when the test says so. */
function controlled() {
  const begun: { signal: AbortSignal; end: (result: string) => void; fail: (error: Error) => void }[] = [];
  const work = (signal: AbortSignal) =>
    new Promise<string>((end, fail) => {
      begun.push({ signal, end, fail });
      signal.addEventListener('abort', () => fail(signal.reason));
    });
  return { begun, work };
}

test('callers with the same key share the work, also when it fails', async () => {
  const share = sharedWork<string>();
  const { begun, work } = controlled();
  const all = [share('a', never(), work), share('a', never(), work), share('b', never(), work)];
  expect(begun.length).toBe(2);
  begun[0]?.end('done');
  begun[1]?.fail(new Error('broken'));
  expect(await Promise.allSettled(all)).toMatchObject([
    { value: 'done' },
    { value: 'done' },
    { reason: new Error('broken') },
  ]);
  const later = share('a', never(), work);
  begun[2]?.end('again');
  expect(await later).toBe('again');
});

test('work continues while anybody waits, and is aborted when the last one leaves', async () => {
  const share = sharedWork<string>();
  const { begun, work } = controlled();
  const [first, second] = [new AbortController(), new AbortController()];
  const one = share('a', first.signal, work);
  const two = share('a', second.signal, work);
  first.abort(new Error('cancelled'));
  await expect(one).rejects.toThrow('cancelled');
  expect(begun[0]?.signal.aborted).toBe(false);
  second.abort(new Error('cancelled too'));
  await expect(two).rejects.toThrow('cancelled too');
  expect(begun[0]?.signal.aborted).toBe(true);
  const third = share('a', never(), work);
  begun[1]?.end('new');
  expect(await third).toBe('new');
});
