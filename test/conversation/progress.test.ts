import { converse } from '../../src/conversation/loop.ts';
import { takeUpMessage } from '../../src/conversation/take-up.ts';
import type { Message } from '../../src/llm/model.ts';
import {
  call,
  finish,
  loopContext,
  read,
  type Scripted,
  toolHost,
  upToSteps,
} from '../support/stand-ins/agent-loop.ts';

const opening: Message[] = [{ role: 'user', content: 'the task' }];
const start = (given: ReturnType<typeof loopContext>, before: Message[] = []) =>
  converse(given.context, [...opening, ...before]);
const last = (messages: Message[] | undefined) => messages?.at(-1)?.content ?? '';
const failsWith = (category: string, message: string | RegExp) => ({
  failure: { category, message: expect.stringMatching(message) },
});

describe('warnings before a limit', () => {
  const warnings = ({ kept }: ReturnType<typeof loopContext>) =>
    kept.flatMap(({ turn }) => turn.filter((m) => m.role === 'user').map((m) => m.content));
  const used = { steps: 0, tokens: 0, costUsd: 0, dayCostUsd: 0, minutes: 0 };

  test.each([
    ['steps', { steps: 80 }, '80 of 99 steps are used'],
    ['tokens', { tokens: 8000 }, '8000 of 9999 tokens are used'],
    ['dollars', { costUsd: 7.2 }, '7.2 of 9 dollars are used'],
    ['minutes', { minutes: 7.25 }, '7.2 of 9 minutes are used'],
  ])('at 80 % of %s the model is warned once, before its answer', async (_what, more, text) => {
    const given = loopContext([[read('a')], [read('b')], [finish()]], { spent: async () => ({ ...used, ...more }) });
    await start(given);
    expect(warnings(given)).toEqual([expect.stringContaining(text)]);
    expect(last(given.seen[0]?.messages)).toContain(text);
    expect(given.kept[0]?.turn.map((m) => m.role)).toEqual(['user', 'assistant', 'tool']);
  });

  test('each limit has its own warning, and a worker that takes over does not repeat it', async () => {
    const given = loopContext([[read('a')], [read('b')]], {
      spent: async () => ({ ...used, steps: 80, minutes: given.kept.length === 0 ? 0 : 8 }),
    });
    await expect(start(given)).rejects.toThrow('no further turn');
    expect(warnings(given)).toEqual([expect.stringContaining('steps'), expect.stringContaining('8 of 9 minutes')]);
    const next = loopContext([[finish()]], { spent: async () => ({ ...used, steps: 81, minutes: 8.5 }) });
    await start(
      next,
      given.kept.flatMap(({ turn }) => turn),
    );
    expect(warnings(next)).toEqual([]);
  });

  test('a limit that people changed and one of a run that continues the conversation have their own warnings', async () => {
    const script = [[read('a')], [read('b')], [finish()]];
    const given = loopContext(script, { spent: async () => ({ ...used, steps: given.kept.length === 0 ? 80 : 190 }) });
    given.context.limits = async () => upToSteps(given.kept.length === 0 ? 99 : 200)();
    await start(given);
    expect(warnings(given)).toEqual([expect.stringContaining('80 of 99'), expect.stringContaining('190 of 200')]);
    const before = given.kept.flatMap(({ turn }) => turn);
    const goOn = takeUpMessage({ failure: { message: 'x' }, instructions: '', comments: '', merge: '' });
    const next = loopContext([[finish()]], { spent: async () => ({ ...used, steps: 190 }), limits: upToSteps(200) });
    await start(next, [...before, goOn]);
    expect(warnings(next)).toEqual([expect.stringContaining('190 of 200')]);
  });

  test('below 80 % there is no warning', async () => {
    const given = loopContext([[finish()]], {
      spent: async () => ({ steps: 79, tokens: 7999, costUsd: 7.19, dayCostUsd: 8.9, minutes: 7.19 }),
    });
    await start(given);
    expect(warnings(given)).toEqual([]);
  });
});

describe('answers that are neither a valid call nor an ending', () => {
  const bad = (name: string) => [call(name)];
  const cut: Scripted = { text: 'I will now', isCut: true };

  test.each<[string, Scripted[], RegExp]>([
    ['texts', ['I am done', 'Done.', ' '], /an empty answer$/],
    ['unknown tools', ['a', 'b', 'c'].map(bad), /Error: there is no tool c; the tools are /],
    ['arguments that are not JSON', ['{', '[', '"'].map((text) => [call('read_file', text)]), /Error: /],
    ['texts and invalid calls', ['First I read.', bad('a'), 'Sorry.'], /Sorry\.$/],
    ['answers that are cut', [cut, cut, cut], /I will now/],
  ])('three %s in a row fail the run with model', async (_what, script, lastOne) => {
    const given = loopContext([...script, [finish()]]);
    await expect(start(given)).rejects.toMatchObject(
      failsWith(
        'model',
        /^the model gave 3 answers in a row that were neither a valid call nor an ending; the last one: /,
      ),
    );
    expect(given.kept).toHaveLength(3);
    await expect(start(loopContext(script))).rejects.toThrow(lastOne);
  });

  test('each is answered with what was expected', async () => {
    const given = loopContext(['I am done', [call('a'), call('b')], [finish()]]);
    await start(given);
    expect(last(given.seen[1]?.messages)).toMatch(/1 of 3 in a row.* Text alone changes nothing\. .*Call finish/);
    const [first, second, remark] = given.seen[2]?.messages.slice(-3).map((m) => m.content) ?? [];
    expect([first, second]).toEqual([
      expect.stringMatching(/^Error: there is no tool a/),
      expect.stringMatching(/tool b/),
    ]);
    expect(remark).toMatch(/2 of 3 in a row/);
  });

  test('the parallel calls of one answer count once, and one valid call among them makes the answer valid', async () => {
    const three = [call('a'), call('b'), call('c')];
    expect(await start(loopContext([three, three, [finish()]]))).toBeDefined();
    expect(await start(loopContext([three, three, [...three, read('a')], three, three, [finish()]]))).toBeDefined();
    await expect(start(loopContext([three, three, three, [finish()]]))).rejects.toThrow('3 answers in a row');
  });

  test('any valid call resets the count, even one that fails', async () => {
    const { host } = toolHost(() => ({ ok: false, text: 'no such file' }));
    expect(await start(loopContext(['x', 'y', [read('a')], 'x', bad('c'), [finish()]], { host }))).toBeDefined();
  });

  test('an ending that is refused resets the count', async () => {
    let rounds = 0;
    const judge = async () =>
      rounds++ === 0
        ? { accepted: false as const, objection: 'not yet' }
        : { accepted: true as const, evidence: { trees: {} } };
    expect(await start(loopContext(['x', 'y', [finish()], 'x', 'y', [finish()]], { judge }))).toBeDefined();
  });

  test('a worker that takes over counts on', async () => {
    const given = loopContext(['x', 'y']);
    await expect(start(given)).rejects.toThrow('no further turn');
    const before = given.kept.flatMap(({ turn }) => turn);
    await expect(start(loopContext(['z', [finish()]]), before)).rejects.toThrow('3 answers in a row');
  });

  test('failing commands, missing files and refused edits never end a run', async () => {
    const { host } = toolHost(() => ({ ok: false, text: 'no such file' }));
    const many = Array.from({ length: 30 }, (_, i) => [
      read(`f${i}`),
      call('edit_file', { path: 'a', old: `${i}`, new: '' }),
    ]);
    expect(await start(loopContext([...many, [finish()]], { host }))).toBeDefined();
  });
});

describe('a model that repeats itself', () => {
  const again = (times: number) => Array.from({ length: times }, () => [read('a')]);

  test('the same call with the same result: a hint at three, and the fourth fails the run', async () => {
    const given = loopContext([...again(4), [finish()]]);
    await expect(start(given)).rejects.toMatchObject(
      failsWith('model', /^the model made the same call with the same result 4 times in a row: read_file a$/),
    );
    expect(given.kept).toHaveLength(4);
    const hints = given.seen.map(
      ({ messages }) => messages.filter((m) => /same result 3 times/.test(m.content)).length,
    );
    expect(hints).toEqual([0, 0, 0, 1]);
  });

  test('a model that changes course after the hint may continue', async () => {
    expect(await start(loopContext([...again(3), [read('b')], ...again(3), [finish()]]))).toBeDefined();
  });

  test('other results, other arguments, or another call in the same answer count as progress', async () => {
    let calls = 0;
    const { host } = toolHost(() => ({ ok: true, text: `build ${calls++ < 8 ? calls : 'done'}` }));
    expect(await start(loopContext([...again(8), [finish()]], { host }))).toBeDefined();
    const others = [read('a'), read('b'), read('a')].map((each) => [each]);
    expect(
      await start(loopContext([...others, ...others, [read('a'), read('b')], ...again(3), [finish()]])),
    ).toBeDefined();
  });

  test('how long a command took makes no difference', async () => {
    let calls = 0;
    const { host } = toolHost(() => ({ ok: false, text: `exit code 1 after ${calls++ / 10} s\nno tests` }));
    await expect(start(loopContext([...again(4), [finish()]], { host }))).rejects.toThrow('4 times in a row');
  });

  test('a worker that takes over counts the calls of the earlier one', async () => {
    const given = loopContext(again(3));
    await expect(start(given)).rejects.toThrow('no further turn');
    await expect(
      start(
        loopContext([[read('a')]]),
        given.kept.flatMap(({ turn }) => turn),
      ),
    ).rejects.toThrow('4 times in a row');
  });

  test('endings that are refused for different reasons are no repetition', async () => {
    const objections = ['review', 'checks', 'checks', 'checks'];
    const judge = async () => {
      const objection = objections.shift();
      return objection === undefined
        ? { accepted: true as const, evidence: { trees: {} } }
        : { accepted: false as const, objection };
    };
    expect(
      await start(
        loopContext(
          Array.from({ length: 5 }, () => [finish()]),
          { judge },
        ),
      ),
    ).toBeDefined();
  });
});
