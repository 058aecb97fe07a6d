import type { ModelRequest } from '../../demo/model/model.ts';
import { player, wishesIn } from '../../demo/model/player.ts';

/** Returns the names of the tools that the demo's model calls in a turn. */
function calledIn(turn: number, tools: string[]): string[] {
  const request: ModelRequest = {
    model: 'scripted',
    messages: [{ role: 'user', content: '# Task: Cut long slugs' }],
    tools: [...tools, 'list_files', 'read_file', 'finish'].map((name) => ({ function: { name } })),
  };
  const said = typeof player === 'function' ? player(request, turn) : [];
  return Array.isArray(said) ? said.map(({ name }) => name) : [];
}

test("the demo's model proposes a plan until one is approved, and then makes the change", () => {
  for (const turn of [0, 1, 2]) expect(calledIn(turn, ['propose_plan'])).toEqual(['propose_plan']);
  expect(calledIn(2, ['write_file'])).toEqual(['write_file']);
});

test("the demo's model says how the tasks of a sprint are doing", () => {
  const context =
    '# The sprint: Spring\nStatus: active, 2026-01-05 to 2026-01-09.\n\n## Tasks\n- task_1 in_review: Cut; no owner\n- task_2 done: Cut more';
  const messages = [
    { role: 'user' as const, content: context },
    { role: 'user' as const, content: '@mona: What happened?' },
  ];
  const answerTo = (asked: typeof messages) =>
    typeof player === 'function' ? player({ model: 'scripted', messages: asked, tools: [] }, 0) : '';
  const said = answerTo(messages);
  expect(said).toContain('The sprint **Spring** is active.');
  expect(said).toContain('Its tasks:\n\n- task_1: in review\n- task_2: done');
  const digest = '# Spring\n\n5 of 5 tasks done. The runs cost $0.00.';
  expect(answerTo([{ role: 'user', content: digest }])).toMatch(/^Everything that was planned is done\./);
});

test("what people say to the demo's model appears in its plan and in its change", () => {
  const said = [
    '[mona says]\nKeep the names short.',
    '[mona asks for another plan]\nCut at words.\n\nCall propose_plan again.',
    '[mona changed the plan and approved it]\nThe plan is now as follows. Carry it out as it is here.\n\n1. Cut.\n2. Test.',
    '[mona answers "Change it?"]\nAdd a second one',
    'A person took the conversation back.\n\n## Instructions for this attempt\nUse a loop.',
    '# Task: Cut long slugs\n\n## Instructions for this attempt\nsrc/a.js:3\n\nRename this.\n\n## The repository sample\nfiles',
  ];
  const wishes = [
    ...['Keep the names short.', 'Cut at words.', '1. Cut. 2. Test.', 'Add a second one', 'Use a loop.'],
    'src/a.js:3 Rename this.',
  ];
  expect(wishesIn({ messages: said.map((content) => ({ role: 'user', content })) })).toEqual(wishes);

  const messages: ModelRequest['messages'] = [
    { role: 'user', content: '# Task: Cut long slugs' },
    ...['[mona says]\nKeep the names short.'].map((content) => ({ role: 'user', content })),
  ];
  const answer = (turn: number, tools: string[], more: ModelRequest['messages'] = []) => {
    const tool = [...tools, 'finish'].map((name) => ({ function: { name } }));
    return typeof player === 'function'
      ? player({ model: 'scripted', messages: [...messages, ...more], tools: tool }, turn)
      : '';
  };
  const inPlan = { markdown: expect.stringContaining('3. As you asked: Keep the names short.') };
  expect(answer(0, ['propose_plan'])).toMatchObject([{ name: 'propose_plan', arguments: inPlan }]);
  const written = { name: 'write_file', arguments: { content: expect.stringContaining('Keep the names short.') } };
  const change = answer(2, ['write_file', 'run_command']);
  expect(change).toMatchObject([written]);
  // A message that comes after the file was written is written before the end.
  const [{ arguments: args } = { arguments: {} }] = Array.isArray(change) ? change : [];
  const turns = [{ role: 'assistant', content: null, tool_calls: [{ function: { arguments: JSON.stringify(args) } }] }];
  expect(answer(4, ['write_file', 'run_command'], turns)).toMatchObject([{ name: 'finish' }]);
  const later = [...turns, { role: 'user', content: '[mona says]\nAnd test it.' }];
  expect(answer(4, ['write_file', 'run_command'], later)).toMatchObject([
    { name: 'write_file', arguments: { content: expect.stringMatching(/names short\.[\s\S]+And test it\./) } },
  ]);
});
