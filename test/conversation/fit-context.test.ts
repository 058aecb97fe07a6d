import fc from 'fast-check';
import { converse } from '../../src/conversation/loop.ts';
import { type Cut, openingLength, planCut, promptLength, promptOf } from '../../src/conversation/memory.ts';
import { type Message, ModelFailed } from '../../src/llm/model.ts';
import { call, finish, loopContext, read, toolHost, upToSteps } from '../support/stand-ins/agent-loop.ts';

const turn = (i: number, length: number): Message[] => [
  { role: 'assistant', content: '', toolCalls: [{ id: `c${i}`, name: 'read_file', arguments: '{}' }] },
  { role: 'tool', toolCallId: `c${i}`, content: `${i}:`.padEnd(length, 'x') },
];
const opening: Message[] = [
  { role: 'system', content: 'rules' },
  { role: 'user', content: 'the task' },
];
const textOf = (messages: Message[]) => JSON.stringify(messages);
const answer = 'The notes of the model.';
const isQuestion = (messages: Message[]) =>
  /will be replaced by what you write now/.test(messages.at(-1)?.content ?? '');

/** A conversation of 100 turns that read 8,000 characters each; asked for a summary, the model writes one. */
function longConversation(more: Parameters<typeof loopContext>[1] = {}) {
  const { host } = toolHost(() => ({ ok: true, text: 'x'.repeat(8000) }));
  let turns = 0;
  const given = loopContext(
    (_, prompt) => {
      if (isQuestion(prompt)) return answer;
      turns += 1;
      return turns > 100 ? [finish()] : [read(`src/file${turns}.ts`)];
    },
    { host, ...more },
  );
  given.context.limits = upToSteps(1000);
  return given;
}

function commonPrefix(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  return i;
}

/** The share of each prompt that is the unchanged beginning of the one before. The first 1 in the text ends the array. */
function prefixShares(prompts: Message[][]): number[] {
  const texts = prompts.map((messages) => textOf(messages).slice(0, -1));
  return texts.slice(1).map((text, i) => commonPrefix(texts[i] ?? '', text) / text.length);
}

describe('the prompts of a long conversation', () => {
  test('over 100 turns of 8,000 characters, at least 90 % of a prompt is the unchanged prefix of the one before', async () => {
    const given = longConversation();
    await converse(given.context, [...opening]);
    const prompts = given.seen.map(({ messages }) => messages);
    const shares = prefixShares(prompts);
    expect(prompts.length).toBeGreaterThan(101);
    expect(shares.reduce((sum, share) => sum + share, 0) / shares.length).toBeGreaterThanOrEqual(0.9);
    expect(Math.max(...prompts.map((messages) => promptLength(messages, [])))).toBeLessThanOrEqual(400_000);
  });

  test('a cut keeps the opening, puts the notes of the model in place of the first turns and is stored', async () => {
    const stored: (Cut | undefined)[] = [];
    const given = longConversation();
    given.context.memory.keep = async ({ cut }) => void stored.push(cut);
    await converse(given.context, [...opening]);
    const after = given.seen.at(-1)?.messages ?? [];
    expect(after.slice(0, 2)).toEqual(opening);
    expect(after[2]?.content).toMatch(/^\[Earlier turns .* left out.*\n\nThe notes of the model\.$/s);
    expect(after[3]?.role).toBe('assistant');
    expect(stored).toEqual([
      { upTo: expect.any(Number), summary: answer },
      { upTo: expect.any(Number), summary: answer },
    ]);
    expect(given.kept).toHaveLength(101);
    const question = given.seen.find(({ messages }) => isQuestion(messages));
    expect(question?.options).toMatchObject({ maxOutputTokens: expect.any(Number) });
  });

  test('a worker that takes over sends the identical prompt', async () => {
    const stop = new Error('the worker stopped');
    for (const stopAt of [30, 55, 60, 100]) {
      const given = longConversation();
      const reply = given.context.model.reply;
      given.context.model.reply = async (messages, ...rest) => {
        if (given.kept.length === stopAt) throw stop;
        return reply(messages, ...rest);
      };
      await expect(converse(given.context, [...opening])).rejects.toBe(stop);
      const turns = JSON.parse(textOf(given.kept.flatMap((kept) => kept.turn)));
      const next = loopContext([[finish()]]);
      next.context.limits = upToSteps(1000);
      Object.assign(next.context.memory, JSON.parse(JSON.stringify(given.context.memory)));
      await converse(next.context, [...opening, ...turns]);
      const [first, second] = [given.seen.at(-1)?.messages ?? [], next.seen[0]?.messages ?? []];
      expect(textOf(second).startsWith(textOf(first).slice(0, -1))).toBe(true);
    }
  });
});

describe('what replaces the first turns', () => {
  test('when the model does not write the notes, the host lists the facts', async () => {
    const run = { command: 'npm test' };
    const { host } = toolHost((tool) => ({
      ok: tool !== 'run_command',
      text: tool === 'run_command' ? 'exit code 1\nlots' : 'x'.repeat(60_000),
    }));
    let turns = 0;
    const given = loopContext(
      (_, prompt) => {
        if (isQuestion(prompt)) return new ModelFailed('model', 'away', { isTransient: true });
        turns += 1;
        if (turns > 12) return [finish()];
        return [
          read(`src/${turns}.ts`),
          call('write_file', { path: 'out.txt', content: 'x' }),
          call('run_command', run),
        ];
      },
      { host },
    );
    await converse(given.context, [...opening]);
    const notes = given.seen.at(-1)?.messages[2]?.content;
    expect(notes).toContain('Files changed:\n- out.txt');
    expect(notes).toContain('- src/1.ts');
    expect(notes).toContain('- npm test → Error: exit code 1');
  });

  test('secrets in the notes are removed', async () => {
    const { host } = toolHost(() => ({ ok: true, text: 'x'.repeat(90_000) }));
    let turns = 0;
    const given = loopContext(
      (_, prompt) => {
        if (isQuestion(prompt)) return 'the key is hunter2';
        turns += 1;
        return turns > 6 ? [finish()] : [read(`f${turns}`)];
      },
      { host },
    );
    await converse(given.context, [...opening]);
    expect(given.seen.at(-1)?.messages[2]?.content).toContain('the key is ***');
  });
});

describe('a model that refuses a prompt as too long', () => {
  const tooLong = new ModelFailed('context', 'too long');
  const before = Array.from({ length: 20 }, (_, i) => turn(i, 18_000)).flat();

  test('the conversation is cut until the model accepts it, and the limit is kept', async () => {
    const given = loopContext((_, prompt) => {
      if (isQuestion(prompt)) return answer;
      return promptLength(prompt, []) > 60_000 ? tooLong : [finish()];
    });
    const learned: (number | undefined)[] = [];
    given.context.memory.keep = async ({ limitChars }) => void learned.push(limitChars);
    await converse(given.context, [...opening, ...before]);
    const lengths = given.seen.filter(({ messages }) => !isQuestion(messages)).map((s) => promptLength(s.messages, []));
    expect(lengths.at(-1)).toBeLessThanOrEqual(60_000);
    expect(learned.at(-1)).toBeLessThan(200_000);
  });

  test('a window that the server names is used', async () => {
    const given = loopContext((_, prompt) => (isQuestion(prompt) ? answer : [finish()]));
    given.context.model.window = () => 20_000;
    await converse(given.context, [...opening, ...before]);
    const last = given.seen.at(-1)?.messages ?? [];
    expect(promptLength(last, [])).toBeLessThanOrEqual(20_000 * 3 * 0.75);
    expect(given.seen.filter(({ messages }) => isQuestion(messages))).toHaveLength(1);
  });

  test('a single turn that is longer than the window is shortened in its results', async () => {
    const given = loopContext((_, prompt) => (isQuestion(prompt) ? answer : [finish()]));
    given.context.model.window = () => 20_000;
    await converse(given.context, [...opening, ...turn(1, 900_000)]);
    const last = given.seen.at(-1)?.messages ?? [];
    expect(promptLength(last, [])).toBeLessThanOrEqual(20_000 * 3 * 0.75);
    expect(last.at(-1)?.content).toMatch(/^1:x+\n\[… \d+ characters left out; call the tool again for them …\]\nx+$/);
  });

  test('the run fails when the model refuses the shortest prompt too', async () => {
    const hopeless = loopContext(Array(9).fill(tooLong));
    await expect(converse(hopeless.context, [...opening])).rejects.toMatchObject({
      failure: {
        category: 'model',
        message: 'too long',
      },
    });
    expect(hopeless.seen).toHaveLength(5);
  });
});

/** Turns of any shape: several calls, remarks of the host, reasoning that the server sent. */
const anyTurn = fc
  .record({
    calls: fc.array(fc.nat(30_000), { maxLength: 4 }),
    remark: fc.boolean(),
    kept: fc.boolean(),
    text: fc.nat(3000),
  })
  .map(({ calls, remark, kept, text }): Message[] => [
    {
      role: 'assistant',
      content: 'y'.repeat(text),
      toolCalls: calls.map((_, i) => ({ id: `c${i}`, name: 'read_file', arguments: '{}' })),
      ...(kept ? { kept: { wire: 'chat', items: [{ reasoning: 'z'.repeat(text) }] } } : {}),
    },
    ...calls.map((length, i): Message => ({ role: 'tool', toolCallId: `c${i}`, content: 'x'.repeat(length) })),
    ...(remark ? [{ role: 'user' as const, content: 'a remark' }] : []),
  ]);

test('whatever the turns: a cut never divides a turn, fits the limit, and leaves room for the next ones', () => {
  fc.assert(
    fc.property(
      fc.array(anyTurn, { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 20_000, max: 300_000 }),
      (turns, limit) => {
        let cut: Cut | undefined;
        for (let count = 1; count <= turns.length; count++) {
          const messages = [...opening, ...turns.slice(0, count).flat()];
          const plan = planCut(messages, cut, limit);
          if (plan === undefined) continue;
          expect(plan.upTo).toBeGreaterThanOrEqual(cut?.upTo ?? openingLength(messages));
          cut = { ...plan, summary: 's'.repeat(100) };
          const prompt = promptOf(messages, cut);
          expect(promptLength(prompt, [])).toBeLessThanOrEqual(limit);
          expect(prompt.slice(0, 2)).toEqual(opening);
          const calls = prompt.flatMap((m) => (m.role === 'assistant' ? m.toolCalls : []));
          expect(prompt.filter((m) => m.role === 'tool')).toHaveLength(calls.length);
          expect(['assistant', undefined]).toContain(prompt[3]?.role);
          expect(planCut(messages, cut, limit)).toBeUndefined();
        }
      },
    ),
  );
});
