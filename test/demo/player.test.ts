import type { ModelRequest } from '../../demo/model/model.ts';
import { player } from '../../demo/model/player.ts';

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
