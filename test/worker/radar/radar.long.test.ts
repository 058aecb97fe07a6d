import { findCollisions } from '../../../src/worker/radar/find-collisions.ts';
import { gitOut, gitWith } from '../../support/git.ts';
import { reviewedTask } from '../../support/stage/props.ts';
import { openStage, type Stage } from '../../support/stage/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const folder = () => stage.github.folderOf('mona/sample');

/** Puts a file with this text, beside those of main, on a ref, and returns the commit. */
function write(ref: string, text: string): string {
  const blob = gitWith(folder(), text, 'hash-object', '-w', '--stdin');
  const tree = gitWith(folder(), `${gitOut(folder(), 'ls-tree', 'main')}\n100644 blob ${blob}\tsame.txt\n`, 'mktree');
  const sha = gitOut(folder(), 'commit-tree', tree, '-p', 'main', '-m', 'same');
  gitOut(folder(), 'update-ref', ref, sha);
  return sha;
}

async function inReview(text: string) {
  const made = await reviewedTask(stage);
  const sha = write(`refs/heads/${made.branch}`, text);
  await stage.github.showBranches('mona/sample');
  await stage.settle();
  await stage.sql('update pull_requests set head_sha = $2 where task_id = $1', [made.task, sha]);
  return made;
}

const look = (number: number) => findCollisions(stage.service.app, { repositoryId: stage.repository, number });
const others = async (task: string) => {
  const { collisions } = await stage.ask<{ collisions: { otherNumber: number; files: string[] }[] }>(
    'GET',
    `/tasks/${task}/collisions`,
  );
  return collisions.map(({ otherNumber, files }) => `${otherNumber} ${files.join()}`).sort();
};

test('pull requests of tasks and of a fork collide, and what is settled or pushed does not any more', async () => {
  const first = await inReview('first\n');
  const second = await inReview('second\n');
  const alike = await inReview('first\n');
  await look(first.pull);
  expect(await others(first.task)).toEqual([`${second.pull} same.txt`]);
  expect(await others(second.task)).toEqual([`${first.pull} same.txt`]);
  await look(second.pull);
  expect(await others(second.task)).toEqual([`${first.pull} same.txt`, `${alike.pull} same.txt`].sort());

  // As on GitHub, the head of a fork is in the repository only under the ref of its pull request.
  const theirs = write('refs/heads/theirs', 'theirs\n');
  await stage.github.showBranches('mona/sample');
  const { number } = await stage.github.as('mona')<{ number: number }>('POST', '/repos/mona/sample/pulls', {
    ...{ title: 'Theirs', body: '', head: 'theirs', base: 'main' },
  });
  stage.github.rare.forks.add(number);
  gitOut(folder(), 'update-ref', `refs/pull/${number}/head`, theirs);
  await stage.loseEvents();
  await look(number);
  expect(await others(first.task)).toEqual([`${second.pull} same.txt`, `${number} same.txt`].sort());

  // The head is another one by now, so nothing is known about it.
  await stage.sql('update pull_requests set head_sha = $2 where task_id = $1', [alike.task, 'f'.repeat(40)]);
  await look(second.pull);
  expect(await others(alike.task)).toEqual([`${number} same.txt`]);
  expect(await others(second.task)).toEqual([`${first.pull} same.txt`, `${number} same.txt`].sort());

  await stage.sql(`update pull_requests set status = 'merged' where task_id = $1`, [first.task]);
  await look(first.pull);
  expect(await others(first.task)).toEqual([]);
  expect(await others(second.task)).toEqual([`${number} same.txt`]);
  // With the task its pull request goes, and what was known about it.
  await stage.sql('delete from tasks where id = $1', [second.task]);
  const left = await stage.sql<{ task_id: string }>('select task_id from collisions', []);
  expect(left.map((row) => row.task_id)).toEqual([alike.task]);
});
