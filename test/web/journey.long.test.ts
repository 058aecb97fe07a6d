import type { Locator, Page } from 'playwright-core';
import { chromiumPath } from '../../demo/browser.ts';
import type { Said } from '../../demo/model/model.ts';
import { inBrowser, openOwner, watchBrowser } from '../support/browser.ts';
import { handsOf, write } from '../support/face.ts';
import { isThorough } from '../support/thorough.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let page: Page;
let script: Said[] = [];
/** Holds the model's answer to a turn until it is set free. */
let held: { turn: number; reached: () => void; free: Promise<void> } | undefined;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  world = await openWorld((_request, turn) => script[Math.min(turn, script.length - 1)] ?? 'Done.', {
    before: async (turn) => {
      if (held?.turn !== turn) return;
      held.reached();
      await held.free;
    },
  });
  await handsOf(world).push('main', '.deckhand.yml', 'checks: node --test\n');
  page = await openOwner(world);
});
watchBrowser(() => world?.close());

const finish = { name: 'finish', arguments: { summary: 'Greets people.', nextSteps: [] } };
const greeting = (word: string) =>
  `export const word = '${word}';\nexport function greet(name) {\n  return word + name;\n}\n`;
const testOf = (file: string, word: string) =>
  `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { greet } from '../src/${file}.js';\ntest('greets', () => assert.equal(greet('Ada'), '${word}Ada'));\n`;

/** What the agent does: a plan, a question, a change with its test, then the same change as people ask for it. */
const story = (file: string) => {
  const change = (word: string) => [
    write(`src/${file}.js`, greeting(word)),
    write(`test/${file}.test.js`, testOf(file, word)),
  ];
  const plan = { markdown: 'Add a greeting.', files: [`src/${file}.js`, `test/${file}.test.js`] };
  const question = { question: 'Which word?', options: ['Hello', 'Hi'] };
  const first: Said[] = [
    [{ name: 'propose_plan', arguments: plan }],
    [{ name: 'ask_person', arguments: question }],
    change('Hi'),
    [finish],
  ];
  return { first, rewound: [...first.slice(0, 3), change('Hey'), [finish]], revised: [change('Moin'), [finish]] };
};

const holdAt = (turn: number) => {
  const [reached, freed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  held = { turn, reached: reached.resolve, free: freed.promise };
  return { reached: reached.promise, free: freed.resolve };
};

/** Presses Tab until the focus is there. */
async function reach(target: Locator): Promise<void> {
  await target.waitFor();
  for (let i = 0; i < 300; i++) {
    if ((await target.and(page.locator(':focus')).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab did not reach ${target}`);
}

const withPointer = {
  press: (target: Locator) => target.click(),
  write: (target: Locator, text: string) => target.fill(text),
  comment: async (file: Locator, line: number, text: string) => {
    await file.getByRole('button', { name: `Comment on line ${line}`, exact: true }).click();
    await file.getByRole('textbox').fill(text);
    await file.getByRole('button', { name: 'Done', exact: true }).click();
  },
};
const withKeys: typeof withPointer = {
  press: async (target) => {
    await reach(target);
    await page.keyboard.press('Enter');
  },
  write: async (target, text) => {
    await reach(target);
    await page.keyboard.type(text);
  },
  comment: async (file, line, text) => {
    const buttonOf = (nth: number) => file.getByRole('button', { name: `Comment on line ${nth}`, exact: true });
    await reach(buttonOf(1));
    for (let nth = 1; nth < line; nth++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.type(text);
    await page.keyboard.press('Escape');
    await file.getByText(text).waitFor();
  },
};

const button = (name: string | RegExp, within: Page | Locator = page) =>
  within.getByRole('button', { name, exact: typeof name === 'string' });
const dialog = (name: string | RegExp) => page.getByRole('dialog', { name });
const tab = (name: string) => page.getByRole('navigation', { name: 'Task', exact: true }).getByRole('link', { name });
const waiting = (text: string) => page.getByRole('region', { name: 'Waiting' }).getByText(text);
const readiness = () => page.getByRole('region', { name: 'Merge readiness' });

/** Leads a task from its start to its merge, without leaving the dashboard. */
async function leadToMerge(file: string, { press, write: type, comment }: typeof withPointer): Promise<void> {
  const { first, rewound, revised } = story(file);
  const [agent] = await world.get<{ id: string }[]>(`/agents?projectId=${world.project.id}`);
  const fields = { title: `Greet people (${file})`, owner: agent?.id, planFirst: true };
  const created = world.service.api<{ id: string }>(world.token, 'POST', `/projects/${world.project.id}/tasks`, fields);
  const { id } = await created;
  await page.goto(`${world.service.url}/tasks/${id}`);

  script = first;
  await press(button('Start'));
  await waiting('Add a greeting.').waitFor();
  await press(button('Approve plan'));
  await waiting('Which word?').waitFor();
  const { reached, free } = holdAt(2);
  await press(button('Hi'));
  await reached;
  await type(page.getByLabel('Message the agent'), 'Mind the tabs.');
  await press(button('Send'));
  await page.getByText('The agent reads this before its next turn').waitFor();
  await press(button('Pause run'));
  await page.getByText("The run pauses after its agent's current turn").waitFor();
  held = undefined;
  free();
  await waiting('Paused by mona.').waitFor();
  await press(button('Resume run'));
  await readiness().waitFor();

  script = rewound;
  await press(tab('Runs'));
  await press(page.getByRole('list', { name: 'Runs' }).getByRole('link').first());
  const turn = page.getByRole('listitem').filter({ hasText: 'Turn 3' });
  await press(button(/^Rewind to here/, turn));
  await type(dialog('Rewind to turn 3').getByRole('textbox'), 'Say Hey.');
  await press(button('Rewind', dialog('Rewind to turn 3')));
  await page.getByText('Rewound from turn 3').waitFor();
  await press(page.getByRole('link', { name: fields.title }));

  await readiness().getByText('Its tests fail without it', { exact: false }).waitFor();
  await press(tab('Changes'));
  const changed = page.getByRole('region', { name: `src/${file}.js`, exact: true });
  await changed.getByText("'Hey'").waitFor();
  expect(await changed.getByRole('button', { name: 'Comment on line' }).count()).toBeGreaterThan(0);
  await comment(changed, 1, 'Say Moin.');
  await comment(changed, 2, 'Name it welcome.');
  await comment(changed, 3, 'Add an exclamation mark.');
  script = revised;
  await press(button('Request changes with 3 comments'));
  await press(button('Request changes', dialog('Request changes')));
  await changed.getByText("'Moin'").waitFor();
  expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain(`### src/${file}.js:2`);

  await press(tab('Overview'));
  await readiness().waitFor();
  await press(button('Merge'));
  await press(button(/^Merge( anyway)?$/, page.getByRole('alertdialog')));
  await page.getByText('Nothing is left to do.', { exact: false }).waitFor();
  expect(await world.get(`/tasks/${id}`)).toMatchObject({ status: 'done' });
  // No comment could be sent any more.
  await press(tab('Changes'));
  await changed.getByText("'Moin'").waitFor();
  expect(await changed.getByRole('button', { name: 'Comment on line' }).count()).toBe(0);
}

/** Each way takes half a minute, so the wide one and the one of the keyboard are left to thorough runs. */
const ways = [
  { name: 'with the pointer', width: 1280, file: 'wide', hands: withPointer, isTried: isThorough },
  { name: 'with the pointer at 390 px', width: 390, file: 'narrow', hands: withPointer, isTried: true },
  { name: 'with the keyboard alone', width: 1280, file: 'keys', hands: withKeys, isTried: isThorough },
];
for (const { name, width, file, hands, isTried } of ways) {
  const declare = isTried ? inBrowser : (skipped: string) => test.skip(skipped, () => {});
  declare(`a person leads a task from its plan to its merge in the dashboard, ${name}`, async () => {
    await page.setViewportSize({ width, height: 800 });
    await leadToMerge(file, hands);
  });
}
