import { startGitHub } from '../../demo/github/github.ts';

test('the emulator lists all deliveries in pages that link to each other, the newest first', async () => {
  const github = await startGitHub({ owner: 'mona', repository: 'sample', people: ['mona'] });
  try {
    // They are listed although there is no address to send them to.
    for (let i = github.deliveries.length; i < 150; i++) await github.deliver('ping', '{}');
    const ids: bigint[] = [];
    for (let next: string | undefined = `${github.url}/app/hook/deliveries`; next !== undefined; ) {
      const page = await fetch(next);
      // They exceed 2^53, so `page.json()` would lose digits.
      ids.push(...[...(await page.text()).matchAll(/"id":(\d+)/g)].map(([, id = '']) => BigInt(id)));
      next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
    }
    const [newest = 0n] = ids;
    expect(newest).toBeGreaterThan(Number.MAX_SAFE_INTEGER);
    expect(ids).toEqual(Array.from({ length: 150 }, (_, i) => newest - BigInt(i)));
  } finally {
    await github.close();
  }
});
