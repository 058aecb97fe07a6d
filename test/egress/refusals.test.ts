import { refusalLog } from '../../src/egress/refusals.ts';
import { closingProxied } from './proxied.ts';
import { get } from './requests.ts';

const opened = closingProxied();

describe('refusals', () => {
  test('are counted by host, told rarely, and shown once', async () => {
    const told: unknown[] = [];
    const { say, egress } = await opened({ list: 'setup', onRefusal: (refusal) => told.push(refusal) });
    expect(egress.news()).toBeUndefined();
    for (let i = 0; i < 11; i++) await say('CONNECT one.example.com:443 HTTP/1.1\r\n\r\n');
    await say(get('http://two.example.com/'));
    const reason = 'host one.example.com is not allowed; add it to network.setup in .deckhand.yml';
    expect(told).toEqual([
      { host: 'one.example.com', port: 443, reason, times: 1 },
      { host: 'one.example.com', port: 443, reason, times: 10 },
      expect.objectContaining({ host: 'two.example.com', port: 80, times: 1 }),
    ]);
    expect(egress.news()).toBe(`[network] ${reason} (11 times)\n[network] ${reason.replace('one', 'two')}`);
    expect(egress.news()).toBeUndefined();
    await say('CONNECT one.example.com:443 HTTP/1.1\r\n\r\n');
    expect(egress.news()).toBe(`[network] ${reason}`);
    expect(egress.refused()).toEqual([
      { host: 'one.example.com', times: 12 },
      { host: 'two.example.com', times: 1 },
    ]);
  });

  test('of further hosts are summed up after the first 100', () => {
    const told: number[] = [];
    const log = refusalLog(({ times }) => told.push(times));
    for (let i = 0; i < 1100; i++) log.note({ host: `h${i}.example.com`, port: 443, reason: `host h${i} …` });
    expect(log.all()).toHaveLength(101);
    expect(log.all().at(-1)).toEqual({ host: 'other hosts', times: 1000 });
    expect(told.slice(100)).toEqual([1, 10, 100, 1000]);
    const lines = log.news()?.split('\n') ?? [];
    expect([lines[0], lines.at(-1), lines.length]).toEqual(['[network] host h0 …', '[network] and 91 more', 11]);
  });

  test('show a strange host in printable ASCII, cut', async () => {
    const { say, egress } = await opened();
    await say(`CONNECT ${'€'.repeat(10)}:443 HTTP/1.1\r\n\r\n`, '');
    await say(`CONNECT ${'%'.repeat(300)}:443 HTTP/1.1\r\n\r\n`);
    expect(egress.refused()).toEqual([{ host: `${'%'.repeat(253)}...`, times: 1 }]);
  });
});
