import type { App } from '../../src/app.ts';
import { noProxies } from '../../src/host/proxies.ts';
import { checkedAddress } from '../../src/repositories/credentials.ts';

const config = { GITHUB_SERVER_URL: 'https://github.com', ALLOW_PRIVATE_HOSTS: false, proxies: noProxies };
const app = { config } as App;
const check = (url: string) => checkedAddress(app)(new URL(url));

test('an address on the internet is returned, so that the name is not resolved again', async () => {
  expect(await check('https://93.184.215.14/mcp')).toEqual({ address: '93.184.215.14', family: 4 });
});

test.each([
  ['http://93.184.215.14/', 'the address must begin with https://'],
  ['https://127.0.0.1/', 'the address must not name a private, loopback, link-local or metadata address'],
])('%s is refused before it is looked up', async (url, message) => {
  await expect(check(url)).rejects.toThrow(message);
});

test('a name that does not exist is not blamed on git', async () => {
  await expect(check('https://nowhere.invalid/')).rejects.toThrow(
    /^the host name nowhere\.invalid could not be resolved/,
  );
});
