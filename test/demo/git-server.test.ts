import { execFileSync, spawnSync } from 'node:child_process';
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { until } from '../../src/demo/real-service.ts';
import { serveSampleRepository } from '../support/git.ts';

const host = await serveSampleRepository();
const serving = `--stateless-rpc ${host.bare}`;
afterAll(() => {
  host.close();
  spawnSync('pkill', ['-f', '--', serving]);
});

test.each([
  'identity',
  'gzip',
])('a caller that disconnects during a request (%s) leaves no git process behind', async (coding) => {
  const isServing = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).includes(serving);
  const credentials = Buffer.from('x-access-token:good-token').toString('base64');
  const headers = { Authorization: `Basic ${credentials}`, 'Content-Encoding': coding };
  const asked = request(`${host.url}/git-upload-pack`, { method: 'POST', headers }).on('error', () => {});
  asked.write(coding === 'gzip' ? gzipSync('0000').subarray(0, 12) : '00');
  await until('git to start', async () => isServing());
  asked.destroy();
  await until('git to end', async () => !isServing());
});
