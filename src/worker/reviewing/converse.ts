import type { App } from '../../app.ts';
import { readInstructions, withNestedInstructions } from '../../conversation/briefing/instructions.ts';
import { exchangesOf } from '../../conversation/facts.ts';
import { converse, type LoopContext } from '../../conversation/loop.ts';
import { type Memory, newMemory } from '../../conversation/memory.ts';
import type { ReviewArguments } from '../../conversation/reviewing/review-call.ts';
import { misplacedOpening, misplacedText, reviewMessages } from '../../conversation/reviewing/review-prompt.ts';
import { ofLastRun } from '../../conversation/take-up.ts';
import { chooseRemarks } from '../../domain/reviewing/choose-comments.ts';
import { withoutSecrets } from '../../domain/secrets.ts';
import { storable } from '../../domain/text/sanitize.ts';
import type { Message } from '../../llm/model.ts';
import { asShown } from '../../markdown/as-shown.ts';
import { endingStep } from '../../runs/journal.ts';
import { openLiveText } from '../../runs/live-text.ts';
import { listNotUseful, type PullAsk } from '../../runs/reviewing/store.ts';
import { listTurns } from '../../runs/taking-up/turn-store.ts';
import { spentOf } from '../session.ts';
import { findContext, insertContext, openTurns, updateContext } from '../turns.ts';
import { openMessageInbox } from '../waits.ts';
import type { Limited, Work } from '../work.ts';
import { combineRepositories } from '../workspace/open-repositories.ts';
import type { Signals } from '../workspace/workspace.ts';
import type { Scope } from './scope.ts';
import type { TriedChecks } from './try-checks.ts';

interface Known {
  ask: PullAsk;
  scope: Scope;
  tried: TriedChecks;
}

/** Lets the agent read the pull request and write its review. Continues a conversation that an earlier worker began. */
export async function converseAboutPull(
  app: App,
  given: Limited,
  work: Work,
  signals: Signals,
  known: Known,
): Promise<ReviewArguments> {
  const { journal } = work;
  const ended = await journal.recall<{ review?: ReviewArguments }>(endingStep);
  if (ended?.review !== undefined) return ended.review;
  const { opening, memory } = await beginning(app, given, work, known);
  const turns = await listTurns(app.db.manager, work.run.id);
  await journal.note(
    'loop',
    `${given.agent.name} ${turns.length > 0 ? `continues after turn ${turns.length}` : 'begins'}`,
  );
  const context = contextOf(app, given, work, signals, { memory, turnsBefore: turns.length, scope: known.scope });
  const messages = [...opening, ...turns.flatMap((turn) => turn.messages)];
  work.handoff = async () => undefined;
  const ending = await converse(context, messages);
  const stored = await journal.once(endingStep, async () => ending);
  return stored.review ?? { summary: stored.finish.summary, comments: [] };
}

const mustReview = 'End this conversation with review.';
const saidMeanwhile = 'Somebody said something to you. Read the next message, then call review again.';

function contextOf(
  app: App,
  given: Limited,
  work: Work,
  signals: Signals,
  { memory, turnsBefore, scope }: { memory: Memory; turnsBefore: number; scope: Scope },
): LoopContext {
  const { run, task, model, limitsNow } = given;
  const { host, checkout, baseHead, journal } = work;
  const reading = withNestedInstructions(host, checkout, baseHead);
  const repositories = combineRepositories(app, given, work, reading, signals);
  const clean = <T>(value: T) => withoutSecrets(value, work.secrets);
  const text = openLiveText(app.db, run.id, () => work.secrets);
  const hearing = openMessageInbox(app, run, journal);
  const beforeWait = async () => {};
  const judged = () => undefined;
  const turns = openTurns(app, given, work, { repositories, hearing, memory, turnsBefore, judged, beforeWait });
  return {
    model,
    host: reading,
    offered: { hasShell: false, maySplit: false, review: 'only' },
    limits: limitsNow,
    memory,
    signal: signals.tools,
    hear: hearing.readUnread,
    hasMore: hearing.hasMore,
    judge: async ({ review }, messages) => {
      if (review === undefined) return { accepted: false, objection: mustReview };
      const { misplaced } = chooseRemarks(review.comments, scope);
      if (misplaced.length > 0 && !wasTold(messages)) return { accepted: false, objection: misplacedText(misplaced) };
      if (await hearing.hasMore()) return { accepted: false, objection: saidMeanwhile };
      return { accepted: true, evidence: { trees: {} } };
    },
    spent: () => spentOf(app, run, task),
    note: (type, said, data = {}) => journal.note(type, clean(said), clean({ turn: turns.count() + 1, ...data })),
    withoutSecrets: clean,
    live: text.ofTurn(turns.count),
    keep: async (...turn) => {
      await text.end();
      await turns.keep(...turn);
    },
  };
}

/** Whether the model was told of comments on wrong lines. It may mend them once. */
function wasTold(messages: Message[]): boolean {
  return exchangesOf(ofLastRun(messages)).some(({ remarks }) =>
    remarks.some((text) => text.startsWith(misplacedOpening)),
  );
}

/** At most this many comments that people found not useful are quoted. */
const maxExamples = 15;

/** Returns the first messages, which are stored so that a worker that takes over has the same ones. */
async function beginning(
  app: App,
  { agent, repository }: Limited,
  work: Work,
  { ask, scope, tried }: Known,
): Promise<{ opening: Message[]; memory: Memory }> {
  const { journal, run, checkout, baseHead, environment } = work;
  const memory = newMemory();
  memory.keep = (learned) => journal.write((em) => updateContext(em, run.id, learned));
  const stored = await findContext(app.db.manager, run.id);
  if (stored !== undefined)
    return { opening: stored.opening, memory: { ...memory, cut: stored.cut, limitChars: stored.limitChars } };
  const isHidden = environment.context.isOutputHidden === true;
  const opening = storable(
    reviewMessages({
      systemPrompt: agent.systemPrompt,
      instructions: await readInstructions(checkout, baseHead),
      repositoryName: repository.name,
      asked: run.instructions,
      number: ask.number,
      title: ask.title,
      body: await asShown(ask.body),
      author: ask.author,
      files: scope.files,
      allowed: scope.allowed,
      rounds: scope.rounds,
      earlier: scope.notes,
      notUseful: await listNotUseful(app.db.manager, repository.id, maxExamples),
      // Only members may see the output of commands where the repository has secrets, and a review is for everybody.
      checks: 'why' in tried ? tried.why : tried.checks.map((each) => (isHidden ? { ...each, output: '' } : each)),
    }),
  );
  await journal.write((em) => insertContext(em, run.id, opening));
  return { opening, memory };
}
