import { tokenShapes } from '../../../src/domain/secrets.ts';
import { timeOf } from '../../support/machine/processor-time.ts';

function kindsIn(text: string): string[] {
  return tokenShapes.filter(([, pattern]) => text.search(pattern) >= 0).map(([kind]) => kind);
}

const mixed = 'a1B2'.repeat(20);
const hex = '0a1b2c3d'.repeat(8);
const jwt = `${Buffer.from('{"alg":"RS256","typ":"JWT"}').toString('base64url')}.${mixed}.${mixed}`;

test.each([
  ['a GitHub token', `ghp_${mixed.slice(0, 36)}`],
  ["an App's token for GitHub", `ghs_123456_${jwt}`],
  ['a GitHub token', `github_pat_${mixed.slice(0, 22)}_${mixed.slice(0, 59)}`],
  ['an OpenAI key', `sk-proj-${mixed}`],
  ['an AWS access key', `ASIA${mixed.slice(0, 16).toUpperCase()}`],
  ['a Slack token', `xoxb-${mixed.slice(0, 20)}`],
  ['a Slack token', `hooks.slack.com/services/T${mixed.slice(0, 8)}/B${mixed.slice(0, 8)}/${mixed.slice(0, 24)}`],
  ['a GitLab token', `glpat-${mixed.slice(0, 20)}`],
  ['a Google API key', `AIza${mixed.slice(0, 35)}`],
  ['an npm token', `npm_${mixed.slice(0, 36)}`],
  ['a PyPI token', `pypi-${mixed.slice(0, 50)}`],
  ['a Stripe key', `sk_live_${mixed.slice(0, 20)}`],
  ['a Hugging Face token', `hf_${mixed.slice(0, 30)}`],
  ['a SendGrid key', `SG.${mixed.slice(0, 16)}.${mixed.slice(0, 16)}`],
  ['a Linear key', `lin_api_${mixed.slice(0, 40)}`],
  ['a Shopify token', `shpat_${hex.slice(0, 32)}`],
  ['a Docker Hub token', `dckr_pat_${mixed.slice(0, 27)}`],
  ['a Groq key', `gsk_${mixed.slice(0, 52)}`],
  ['a Grafana token', `glsa_${mixed.slice(0, 32)}_${hex.slice(0, 8)}`],
  ['a Databricks token', `dapi${hex.slice(0, 32)}`],
])('%s is recognized', (kind, token) => {
  expect(kindsIn(`const key = '${token}';`)).toEqual([kind]);
  expect(kindsIn(`KEY=${token}\n`)).toEqual([kind]);
});

test('an installation token is replaced completely, including its signature', () => {
  const token = `ghs_123456_${jwt}`;
  const shown = tokenShapes.reduce((text, [, pattern]) => text.replace(pattern, 'X'), `token: ${token};`);
  expect(shown).toBe('token: X;');
});

test('words with the same beginnings are not tokens', () => {
  expect(kindsIn('ghs_123456_eyJ lin_api_key gsk_live dapi_client shpat_x sk-learn AKIA glsa_ hf_hub')).toEqual([]);
});

// A pattern that searches for its end from every possible beginning would take hours here.
test.each([
  'ghs_1_eyJaaaaaaaaaa-',
  'glsa_',
  'dckr_pat_-',
  'SG.',
  'sk-',
  '-----BEGIN A ',
])('a megabyte of %s is searched quickly', async (beginning) => {
  const text = beginning.repeat(1_000_000 / beginning.length);
  expect(await timeOf(() => kindsIn(text))).toBeLessThan(20_000);
});
