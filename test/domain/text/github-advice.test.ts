import { withAdvice } from '../../../src/domain/text/github-advice.ts';

test.each([
  [
    'HTTP 403: Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.',
    /access this resource; an owner of the organization can add the public address/,
  ],
  ['Resource not accessible by integration', /^Resource not accessible by integration; the App lacks a permission/],
  ['Resource not accessible by personal access token', /the git token of the project lacks a permission/],
  ['Resource protected by organization SAML enforcement.', /; the organization requires single sign-on/],
])('%s is followed by advice', (said, advice) => {
  expect(withAdvice(said)).toMatch(advice);
});

test('other messages stay as they are', () => {
  expect(withAdvice('Not Found.')).toBe('Not Found.');
});
