import { inBrowser, longestTask, openDashboard, visit } from '../support/browser.ts';

const { world, page, base, api } = await openDashboard();

/** The text of a stranger, at most as long as GitHub lets a comment be. */
const long = (part: string, length = 50_000) => part.repeat(length / part.length);

/** Texts that kept a page busy for seconds or minutes. */
const hostileTexts: [string, string][] = [
  ['headings with dashes', long('a\n-\n')],
  ['headings with equals signs', long('a\n=\n')],
  ['short quotes', long('> a\n\n')],
  ['a quote that goes on', `> ${long('a\n')}`],
  ['links inside of each other', `${'['.repeat(10_000)}a${'](b)'.repeat(10_000)}`],
  ['images inside of each other', `${'!['.repeat(8000)}a${'](b)'.repeat(8000)}`],
  ['emphasis around links', '*[a](b)_'.repeat(3900)],
  ['a table with carriage returns', `|${'a|'.repeat(200)}\r|${'-|'.repeat(200)}\r${'|\r'.repeat(6000)}`],
  ['a table in a list', `|${'a|'.repeat(200)}\n1. |${'-|'.repeat(200)}\n${'|\n'.repeat(6000)}`],
  ['quotes inside of each other', long('> ')],
  ['lists inside of each other', `${long('- ')}a`],
  ['emphasis that never ends', long('**a*')],
];

const honestText = `Some **bold** text.\n\n| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(60)}`;

/** Creates a task with a description, however it came there. */
async function addTask(title: string, description: string): Promise<string> {
  const { id } = await api<{ id: string }>('POST', `${base}/tasks`, { title });
  await world.sql('update tasks set description = $2 where id = $1', [id, description]);
  return `${world.service.url}/tasks/${id}`;
}

const tab = (name: string) => page.getByRole('navigation', { name: 'Task', exact: true }).getByRole('link', { name });
const formatted = () => page.locator('.markdown:not(:has(> .wrap))');
const note = () => page.getByText('Shown as it was written, because formatting it would take too long.');

inBrowser('a page with a text that takes long stays usable, and the next text is formatted', async () => {
  const slow: string[] = [];
  for (const [name, text] of hostileTexts) {
    const address = await addTask(name, text);
    const ms = await longestTask(async () => {
      await visit(page, address);
      await page.getByRole('heading', { name }).waitFor();
      await tab('Runs').click();
      await page.getByText('No runs yet').waitFor();
      await tab('Overview').click();
      await formatted().or(note()).waitFor();
    });
    if (ms > 1000) slow.push(`${name}: ${Math.round(ms)} ms`);
  }
  expect(slow).toEqual([]);
  // The turn of a text that is left is finished before that of the next one.
  await visit(page, await addTask('Again', `${'!['.repeat(9000)}a${'](b)'.repeat(9000)}`));
  await visit(page, await addTask('Honest', honestText));
  await page.locator('.markdown strong', { hasText: 'bold' }).waitFor();
  expect(await page.locator('.markdown tbody tr').count()).toBe(60);
  expect(await note().count()).toBe(0);
});
