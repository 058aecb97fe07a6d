import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { unlessMissing } from '../../repositories/permission.ts';
import { askForProof } from '../../runs/pull-proofs/ask-proof.ts';
import { askAboutPull } from '../../runs/reviewing/ask.ts';
import { askFix } from '../../runs/reviewing/ask-fix.ts';
import { type GivenCommand, taskOfCommand, textOf } from '../given-command.ts';

/** The commands about pull requests of people, which have no task. */
export const pullVerbs = {
  review: {
    takes: '[text]',
    does: 'reviews the pull request: comments on changed lines, and changes nothing',
    audit: 'repository.review',
    listedOn: 'pulls',
    worksWithoutTask: true,
    act: async (app: App, given: GivenCommand) => {
      const { repository, userId: askedBy, remember: also, writtenAt } = given;
      const number = numberOfPull(given);
      aboutRepository(app, given);
      const instructions = textOf(given);
      await askAboutPull(app, { repository, number, kind: 'review', askedBy, writtenAt, instructions, also });
    },
  },
  prove: {
    takes: '',
    does: 'runs the tests of the pull request with and without its change; a check run shows what they prove',
    audit: 'repository.prove',
    listedOn: 'pulls',
    worksWithoutTask: true,
    act: async (app: App, given: GivenCommand) => {
      const { repository, userId, remember, writtenAt } = given;
      const number = numberOfPull(given);
      aboutRepository(app, given);
      await askForProof(app, { repository, number, askedBy: userId, writtenAt, also: remember });
    },
  },
  fix: {
    takes: '[text]',
    does: 'fixes something on the branch of the pull request; suggests it in a review if the branch is in a fork',
    audit: 'repository.fix',
    listedOn: 'pulls',
    worksWithoutTask: true,
    act: async (app: App, given: GivenCommand) => {
      const { repository, userId: askedBy, remember: also, writtenAt } = given;
      const number = numberOfPull(given);
      if ((await taskOfCommand(app, given)) !== undefined)
        throw new Refused('This pull request belongs to a task. Use `revise` to ask its agent for a change.');
      aboutRepository(app, given);
      const inThread = await threadOf(given);
      const text = textOf(given);
      await askFix(app, { repository, number, askedBy, writtenAt, text, inThread, also });
    },
  },
} as const;

function aboutRepository(app: App, { repository: { id, projectId } }: GivenCommand): void {
  app.audit.about({ type: 'repository', id, projectId });
}

function numberOfPull({ command, source: { issue } }: GivenCommand): number {
  if (!issue.isPull) throw new Refused(`\`${command.verb}\` works on pull requests, and this is an issue.`);
  return issue.number;
}

/** Reads the comment in whose thread a command was written. */
async function threadOf({ source: { inReview }, at }: GivenCommand) {
  if (inReview?.kind !== 'thread') return undefined;
  const path = 'GET /repos/{owner}/{repo}/pulls/comments/{comment_id}';
  const found = await unlessMissing(at.octokit.request(path, { ...at.name, comment_id: inReview.firstId }));
  return found && { path: found.path, line: found.line ?? found.original_line ?? null, text: found.body };
}
