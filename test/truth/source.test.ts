import { operationsIn, usedOperations } from './source.ts';

test('operations are found in strings and in templates', () => {
  const path = ['$', '{path}'].join('');
  const text = [
    "octokit.request('GET /user');",
    `const path = '/repos/{owner}/{repo}' as const; octokit.request(\`PATCH ${path}\`);`,
    `const path = '/gists'; octokit.request(\`POST ${path}/{gist_id}/forks\`);`,
  ].join('\n');
  expect(operationsIn(text)).toEqual(['GET /user', 'PATCH /repos/{owner}/{repo}', 'POST /gists/{gist_id}/forks']);
  expect(() => operationsIn(`const path = pathOf(x); request(\`GET ${path}\`)`)).toThrow(
    'cannot be read; write it out',
  );
});

test('operations that the source builds are among those that it uses', () => {
  expect(usedOperations()).toEqual(
    expect.arrayContaining([
      'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}',
      'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}',
    ]),
  );
});
