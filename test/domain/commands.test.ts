import { parseCommands } from '../../src/domain/text/commands.ts';

const verbsOf = (body: string) => parseCommands(body, '/agent').map((c) => `${c.verb} ${c.argument}`.trim());

test.each([
  ['/agent start', ['start']],
  ['/AGENT Start  Reviewer ', ['start Reviewer']],
  ['text\r\n/agent retry do it\twell', ['retry do it\twell']],
  ['/agent', ['help']],
  ['/agents start', []],
  [' /agent start', []],
  ['> /agent start', []],
  ['    /agent start', []],
  ['```\n/agent start\n```\n/agent cancel', ['cancel']],
  ['~~~ sh\n```\n/agent start\n~~~\n/agent cancel', ['cancel']],
  ['```\n/agent start', []],
  ['<!-- \n/agent start\n-->\n/agent cancel', ['cancel']],
  ['<!-- x --> \n/agent start', ['start']],
  ['a <!-- x\n/agent start -->', []],
  ['`/agent start`', []],
  ['a ` span\n/agent start\nends ` here', []],
  ['a `` span\n/agent start ` and\nends `` here\n/agent cancel', ['cancel']],
  ['one ` alone\n/agent start', ['start']],
  ['one ` alone\n\n/agent start ` other', ['start ` other']],
  ['<pre>\n/agent start\n</pre>\n/agent cancel', ['cancel']],
  ['<pre><code>x</code>\n/agent start\n</pre>', []],
])('%j holds %j', (body, wanted) => {
  expect(verbsOf(body)).toEqual(wanted);
});

test('a command knows its line, which names it for ever', () => {
  expect(parseCommands('hello\n/agent start\n\n/agent cancel', '/agent').map((c) => c.line)).toEqual([1, 3]);
});

test('a megabyte of comment openers is read in linear time', () => {
  // Of the processor, not of the clock: the machine may be busy with others. Quadratic it would be minutes.
  const began = process.cpuUsage();
  parseCommands('<!--'.repeat(250_000), '/agent');
  parseCommands('/agent start\n'.repeat(80_000), '/agent');
  parseCommands('` `` ``` <pre> '.repeat(60_000), '/agent');
  parseCommands('`\n``\n'.repeat(100_000), '/agent');
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(3000);
});
