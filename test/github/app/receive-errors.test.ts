import { githubApp } from '../../../src/github/app/client.ts';
import { unreachableHost } from '../../../src/outgoing/github-errors.ts';

const none = undefined as never;

/** Returns the error of a delivery whose handler threw this one. */
async function thrown(error: Error): Promise<unknown> {
  const receive = () => Promise.reject(new AggregateError([error]));
  const github = githubApp({ probot: { receive } as never, appAuth: none, pace: none, anonymous: none });
  return github.receive({ id: '1', name: 'push', payload: {} }).catch((each: unknown) => each);
}
const failed = (more: object) => Object.assign(new Error('no'), { name: 'HttpError', status: 500, event: {} }, more);
const request = { url: 'https://api.github.com/x', headers: { authorization: 'token ghs_x' } };

test('the error of a delivery has no payload and no token, and says whether GitHub answered', async () => {
  const away = await thrown(failed({ request }));
  expect(away).not.toHaveProperty('event');
  expect(away).toMatchObject({ request: { url: request.url } });
  expect(unreachableHost(away)).toBe('api.github.com');
  const answered = await thrown(failed({ request, response: { headers: { 'retry-after': '7' }, data: 'large' } }));
  expect(unreachableHost(answered)).toBeUndefined();
  expect(answered).toHaveProperty('response', { headers: { 'retry-after': '7' } });
  expect(JSON.stringify([away, answered])).not.toContain('ghs_x');
});
