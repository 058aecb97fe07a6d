import { knownError } from '../../src/http/error-reply.ts';
import { asFailure } from '../../src/worker/retry.ts';
import { octokitFor } from '../support/github-app.ts';
import { openFakeGitHub } from '../support/stand-ins/fake-github.ts';

test.each([
  ['FORBIDDEN', 'Resource not accessible by integration', 'auth'],
  ['NOT_FOUND', 'Could not resolve to a node', 'repository'],
])('what GraphQL refuses (%s) is said to people, like other refusals of GitHub', async (type, message, category) => {
  const github = await openFakeGitHub([[/^POST \/graphql$/, () => ({ data: null, errors: [{ type, message }] })]]);
  const error = await octokitFor(github.url)
    .graphql('{ viewer { login } }')
    .catch((thrown: unknown) => thrown);
  github.close();
  expect(knownError(error)).toMatchObject({ status: 502, message: expect.stringContaining(message) });
  const failed = asFailure(error, new AbortController().signal);
  expect(failed).toMatchObject({ category, message: expect.stringContaining(message) });
});
