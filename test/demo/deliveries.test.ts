import { startGitHub } from '../../src/demo/github/github.ts';

test('the emulator lists all deliveries in pages that link to each other, the newest first', async () => {
  const github = await startGitHub({ owner: 'mona', repository: 'sample', people: ['mona'] });
  try {
    // They are listed although there is no address to send them to.
    for (let i = github.deliveries.length; i < 150; i++) await github.deliver('ping', '{}');
    const ids: number[] = [];
    for (let next: string | undefined = `${github.url}/app/hook/deliveries`; next !== undefined; ) {
      const page = await fetch(next);
      ids.push(...((await page.json()) as { id: number }[]).map(({ id }) => id));
      next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
    }
    expect(ids).toEqual(Array.from({ length: 150 }, (_, i) => 150 - i));
  } finally {
    await github.close();
  }
});
