import { wishesIn } from '../../demo/model/conversation.ts';
import type { ModelRequest } from '../../demo/model/model.ts';
import { player } from '../../demo/model/player.ts';
import { unclearTask } from '../../demo/model/story.ts';

type Messages = ModelRequest['messages'];

/** Returns the calls of the demo's model after these messages. */
function answerTo(messages: Messages, tools: string[]) {
  const offered = [...tools, 'list_files', 'read_file', 'finish'].map((name) => ({ function: { name } }));
  const said = typeof player === 'function' ? player({ model: 'scripted', messages, tools: offered }, 0) : [];
  return Array.isArray(said) ? said : [];
}

const turnOf = (calls: ReturnType<typeof answerTo>) =>
  ({
    role: 'assistant',
    content: null,
    tool_calls: calls.map(({ name, arguments: given }) => ({
      id: name,
      function: { name, arguments: JSON.stringify(given) },
    })),
  }) as Messages[number];

/** Lets the model answer until it finishes; returns the names of the tools of each turn. */
function played(messages: Messages, tools: string[]): string[][] {
  const calls = answerTo(messages, tools);
  messages.push(turnOf(calls));
  const names = calls.map(({ name }) => name);
  return names.includes('finish') ? [names] : [names, ...played(messages, tools)];
}

const task = (): Messages => [{ role: 'user', content: '# Task: Cut long slugs' }];
const all = ['write_file', 'edit_file', 'run_command'];
const works = [['list_files', 'read_file'], ['write_file', 'write_file'], ['run_command'], ['finish']];

test("the demo's model proposes a plan until one is approved, and then makes the change", () => {
  const messages = task();
  for (const said of ['more steps', 'fewer steps']) {
    const plan = answerTo(messages, ['propose_plan', 'run_command']);
    expect(plan.map(({ name }) => name)).toEqual(['propose_plan']);
    const content = `[mona asks for another plan]\n${said}\n\nCall propose_plan again.`;
    messages.push(turnOf(plan), { role: 'user', content });
  }
  messages.push({ role: 'user', content: '[mona approved the plan]\nCarry it out now.' });
  expect(played(messages, all)).toEqual(works);
  // Where only large changes need a plan, it proposes one, too, and another one when it is asked to.
  const large = task();
  const may = [...all, 'propose_plan'];
  expect(played(large, may)).toEqual([['propose_plan'], ...works]);
  large.push({ role: 'user', content: '[mona asks for another plan]\nNo.\n\nCall propose_plan again.' });
  expect(answerTo(large, may)).toMatchObject([{ name: 'propose_plan' }]);
  expect(played(task(), ['write_file'])).toEqual(works.filter(([name]) => name !== 'run_command'));
});

test("the demo's model asks first if the title is a question, and gives up what is unclear", () => {
  const asks: Messages = [{ role: 'user', content: '# Task: Cut long slugs?' }];
  expect(played(asks, [...all, 'ask_person'])).toEqual([['ask_person'], ...works]);
  const unclear = (description: string): Messages => [
    { role: 'user', content: `# Task: ${unclearTask.title}\n\n${description}` },
  ];
  const messages = unclear(unclearTask.description);
  messages.push(turnOf(answerTo(messages, all)));
  expect(answerTo(messages, all)).toMatchObject([{ name: 'give_up' }]);
  for (const says of ['Name: url-slugs', 'The new name is url-slugs.']) {
    const named = unclear(says);
    expect(played(named, all)).toEqual(works);
    expect(JSON.stringify(named)).toContain('url-slugs/hello-world');
  }
  // A later attempt knows what a hint said to an earlier one.
  const summary = 'It puts pages into the section "url-slugs" of a site.';
  const revised = unclear(`${unclearTask.description}\n\n## Handoffs of earlier attempts\n${summary}`);
  expect(played(revised, all)).toEqual(works);
  expect(JSON.stringify(revised)).toContain('url-slugs/hello-world');
});

test("the demo's model says how the tasks of a sprint are doing", () => {
  const context =
    '# The sprint: Spring\nStatus: active, 2026-01-05 to 2026-01-09.\n\n## Tasks\n- task_1 in_review: Cut; no owner\n- task_2 done: Cut more';
  const messages = [
    { role: 'user' as const, content: context },
    { role: 'user' as const, content: '@mona: What happened?' },
  ];
  const replyTo = (asked: typeof messages) =>
    typeof player === 'function' ? player({ model: 'scripted', messages: asked, tools: [] }, 0) : '';
  const said = replyTo(messages);
  expect(said).toContain('The sprint **Spring** is active.');
  expect(said).toContain('Its tasks:\n\n- task_1: in review\n- task_2: done');
  const digest = '# Spring\n\n5 of 5 tasks done. The runs cost $0.00.';
  expect(replyTo([{ role: 'user', content: digest }])).toMatch(/^Everything that was planned is done\./);
});

test("what people say to the demo's model appears in its plan and in its change", () => {
  const said = [
    '[mona says]\nKeep the names short.',
    '[mona asks for another plan]\nCut at words.\n\nCall propose_plan again.',
    '[mona changed the plan and approved it]\nThe plan is now as follows. Carry it out as it is here.\n\n1. Cut.\n2. Test.',
    '[mona answers "Change it?"]\nAdd a second one',
    'A person took the conversation back.\n\n## Instructions for this attempt\nUse a loop.',
    '# Task: Cut long slugs\n\n## Instructions for this attempt\nsrc/a.js:3\n\nRename this.\n\n## The repository sample\nfiles',
    '# Task: Cut\n\n## Instructions for this attempt\nShorter.\n\n### src/a.js:3\n> return\n\nWhy here?\n\n### src/a.js:9 (removed line)\nKeep it.\n\nAnswer each of these comments with answer_comment before you finish:\n- comment_1: src/a.js:3\n\n## The repository sample\nfiles',
  ];
  const wishes = [
    ...['Keep the names short.', 'Cut at words.', 'Cut. Test.', 'Add a second one', 'Use a loop.'],
    'src/a.js:3 Rename this.',
    ...['Shorter.', 'Why here?', 'Keep it.'],
  ];
  expect(wishesIn({ messages: said.map((content) => ({ role: 'user', content })) })).toEqual(wishes);

  const messages: Messages = [...task(), { role: 'user', content: '[mona says]\nKeep the names short.' }];
  const inPlan = { markdown: expect.stringContaining('4. As you asked: Keep the names short.') };
  expect(answerTo(messages, ['propose_plan'])).toMatchObject([{ name: 'propose_plan', arguments: inPlan }]);
  expect(played(messages, all)).toEqual(works);
  expect(JSON.stringify(messages)).toContain('// As you asked: Keep the names short.');
  // A message that comes after the file was written is written before the end.
  messages.push({ role: 'user', content: '[mona says]\nAnd test it.' });
  const content = expect.stringMatching(/names short\.[\s\S]+And test it\./);
  expect(answerTo(messages, all)).toMatchObject([{ name: 'write_file', arguments: { content } }]);
  expect(played(messages, all)).toEqual([['write_file'], ['run_command'], ['finish']]);
});

test('of a plan that people changed, the model repeats what is new in it', () => {
  const messages = task();
  const plan = answerTo(messages, ['propose_plan']);
  const { markdown } = plan[0]?.arguments as { markdown: string };
  const changed = markdown.replace('4. Run', '4. Use a loop.\n5. Run');
  const content = `[mona changed the plan and approved it]\nThe plan is now as follows. Carry it out as it is here.\n\n${changed}`;
  messages.push(turnOf(plan), { role: 'user', content });
  expect(wishesIn({ messages })).toEqual(['Use a loop.']);
});
