import type { RunEvent, RunTurn } from '../../../src/web/api.ts';
import { doingText, lineText } from '../../../src/web/display/tool-verbs.ts';
import { meaningOf } from '../../../src/web/runs/calls.ts';
import { type Filter, logText, rowFilter, runJson } from '../../../src/web/runs/filter-rows.ts';
import { activityOf, openTimeline, type Row, type Timeline } from '../../../src/web/runs/timeline.ts';

// How the page of a run arranges its log and its turns, without a page.

let timeline: Timeline;
let eventCount: number;
beforeEach(() => {
  timeline = openTimeline();
  eventCount = 0;
});

const timeOf = (second: number) => new Date(Date.UTC(2026, 0, 5, 10, 0, second)).toISOString();

function event(type: string, text = '', data: RunEvent['data'] = {}): RunEvent {
  eventCount += 1;
  return { id: String(eventCount), at: timeOf(eventCount), type, text, data };
}
const add = (...given: Parameters<typeof event>) => timeline.addEvents([event(...given)]);

type StoredCall = RunTurn['calls'][number];
const command = (text: string, result: string): StoredCall => ({
  name: 'bash',
  arguments: JSON.stringify({ command: text }),
  result,
  ok: true,
});

function turn(number: number, text: string, calls: StoredCall[] = []): RunTurn {
  const figures = { inputTokens: 9, cachedInputTokens: 0, outputTokens: 1, costUsd: 0.01 };
  return { turn: number, at: timeOf(40 + number), text, calls, ...figures };
}

/** Describes a row in a few words. */
function brief(row: Row): string {
  switch (row.kind) {
    case 'turn':
      return `turn ${row.turn}`;
    case 'words':
      return row.isLive ? `writing ${row.text}` : row.text;
    case 'call':
      return `${row.call.name} ${meaningOf(row.call).about}`;
    case 'note':
      return `${row.event.type}: ${row.event.text}`;
  }
}
const shown = (rows = timeline.rows()) => rows.map(brief);

test('the log is arranged by turns; what happens between two turns follows the earlier one', () => {
  add('setup', '$ npm ci');
  add('loop', 'Developer begins');
  add('model', 'm answered', { turn: 1, calls: ['read_file a.js', 'run_command npm test'] });
  add('tool', 'read_file a.js', { turn: 1, call: 0, ok: true, ms: 4 });
  add('tool', 'run_command npm test', { turn: 1, call: 1, ok: true, exitCode: 1, ms: 1500 });
  add('network', 'example.com is not allowed');
  add('model', 'm answered', { turn: 2, calls: [] });
  add('push', 'pushing');
  const beforeTurns = shown();
  expect(beforeTurns).toEqual([
    'setup: $ npm ci',
    'loop: Developer begins',
    'turn 1',
    'read_file a.js',
    'run_command npm test',
    'network: example.com is not allowed',
    'turn 2',
    'push: pushing',
  ]);
  const read = { name: 'cat_file', arguments: '{"path":"a.js"}', result: 'text', ok: true };
  timeline.addTurns([turn(1, 'I look.', [read, command('npm test', '[exit code 1] after 1.4 s\nno')]), turn(2, 'Bye')]);
  expect(shown().slice(2)).toEqual([
    'turn 1',
    'I look.',
    'cat_file a.js',
    'bash npm test',
    'network: example.com is not allowed',
    'turn 2',
    'Bye',
    'push: pushing',
  ]);
  // The time of the call is only in the log.
  expect(timeline.rows()[5]).toMatchObject({ call: { ms: 1500, exitCode: 1 } });
});

test('a turn has the time of its first answer, so that the entries below it are not earlier', () => {
  const timesOf = () =>
    timeline.rows().flatMap((row) => (row.kind === 'turn' ? (row.at ?? []) : row.kind === 'note' ? row.event.at : []));
  add('model', 'm answered', { turn: 1, calls: ['finish'] });
  add('check', 'npm test: passed', { passed: true });
  add('loop', 'the worker was lost');
  add('model', 'm answered', { turn: 1, calls: ['finish'] });
  add('check', 'npm test: passed', { passed: true });
  const times = [1, 2, 3, 5].map(timeOf);
  expect(timesOf()).toEqual(times);
  // A turn is stored when its calls have ended.
  timeline.addTurns([turn(1, '')]);
  expect(timesOf()).toEqual(times);
});

test('only the rows of a changed turn are created again', () => {
  add('model', '', { turn: 1, calls: ['list_files'] });
  timeline.addTurns([turn(1, 'One')]);
  const before = timeline.rows();
  expect(timeline.rows()).toBe(before);
  timeline.write({ turn: 1, text: 'Two ' });
  timeline.write({ turn: 1, text: 'words' });
  const after = timeline.rows();
  expect(shown(after)).toEqual(['turn 1', 'One', 'turn 2', 'writing Two words']);
  expect(after.slice(0, 2).every((row, i) => row === before[i])).toBe(true);
  timeline.write({ turn: 1, text: 'Again', restarts: true });
  expect(shown().at(-1)).toBe('writing Again');
  timeline.addTurns([turn(1, 'One'), turn(2, 'Again.')]);
  expect([shown().slice(2), timeline.turns().length]).toEqual([['turn 2', 'Again.'], 2]);
});

test('entries that arrive again after a reconnection are shown once', () => {
  const entries = [event('loop', 'begins'), event('tool', 'read_file a', { turn: 1, call: 0, ok: true })];
  timeline.addEvents(entries);
  timeline.addEvents([...entries, event('tool', 'read_file b', { turn: 1, call: 1, ok: true })]);
  expect(shown()).toEqual(['loop: begins', 'turn 1', 'read_file a', 'read_file b']);
  expect(timeline.events()).toHaveLength(3);
});

test('a worker that takes over repeats the turn that was not stored', () => {
  add('model', '', { turn: 1, calls: ['run_command sleep 9'] });
  add('tool', 'run_command sleep 9', { turn: 1, call: 0, ok: true });
  add('loop', 'the worker was lost');
  add('model', '', { turn: 1, calls: ['read_file a'] });
  expect(shown()).toEqual(['turn 1', 'read_file a', 'loop: the worker was lost']);
});

test('the turns that a rewound run copied come before its set-up', () => {
  timeline.addTurns([turn(1, 'Copied'), turn(2, 'Copied too')]);
  add('setup', 'restored');
  expect(shown()).toEqual(['turn 1', 'Copied', 'turn 2', 'Copied too', 'setup: restored']);
  add('model', '', { turn: 3, calls: ['list_files'] });
  expect(shown().slice(3)).toEqual(['Copied too', 'setup: restored', 'turn 3', 'list_files ']);
});

test('the turns of an older log, whose entries name none, are counted', () => {
  for (const path of ['a', 'b']) {
    add('model', 'm answered');
    add('tool', `read_file ${path}`, { ok: true });
    add('tool', `write_file ${path}`, { ok: false });
  }
  expect(shown()).toEqual(['turn 1', 'read_file a', 'write_file a', 'turn 2', 'read_file b', 'write_file b']);
});

test('the plan has the steps that were noted last, and is not a row', () => {
  expect(timeline.plan()).toEqual([]);
  const steps = (status: string) => [
    { text: 'Look', status: 'done' },
    { text: 'Write', status },
  ];
  add('plan', '1 of 2', { turn: 1, steps: steps('doing') });
  add('plan', '2 of 2', { turn: 2, steps: steps('done') });
  add('plan', 'broken', { turn: 2, steps: 'all' });
  expect(timeline.plan()).toEqual(steps('done'));
  expect(shown()).toEqual(['turn 1', 'turn 2']);
});

describe('filters', () => {
  beforeEach(() => {
    add('setup', '$ npm ci');
    add('setup', 'npm ci: exit code 1, 3 s', { exitCode: 1 });
    const edit = { name: 'edit_file', arguments: '{"path":"a","old":"x","new":"y"}', result: 'Error: no', ok: false };
    timeline.addTurns([
      turn(1, 'First I test.', [command('npm test', '[exit code 0] after 1 s\nall good')]),
      turn(2, '', [command('npm run lint', '[exit code 2] after 1 s\nUNUSED'), edit]),
    ]);
    add('model', '', { turn: 2 });
    add('network', 'npmjs.example is not allowed');
    add('said', 'mona said: hurry');
  });
  const filtered = (filter: Filter, search = '') => shown(rowFilter(filter, search)(timeline.rows()));

  test.each<[Filter, string[]]>([
    ['words', ['turn 1', 'First I test.', 'said: mona said: hurry']],
    ['edits', ['turn 2', 'edit_file a']],
    [
      'commands',
      ['turn 1', 'bash npm test', 'setup: $ npm ci', 'setup: npm ci: exit code 1, 3 s', 'turn 2', 'bash npm run lint'],
    ],
    [
      'problems',
      [
        'setup: npm ci: exit code 1, 3 s',
        'turn 2',
        'bash npm run lint',
        'edit_file a',
        'network: npmjs.example is not allowed',
      ],
    ],
  ])('%s', (filter, expected) => expect(filtered(filter)).toEqual(expected));

  test('a search ignores case, and looks into words, arguments, results and notes', () => {
    expect(filtered('all', ' unused ')).toEqual(['turn 2', 'bash npm run lint']);
    expect(filtered('all', 'HURRY')).toEqual(['said: mona said: hurry']);
    expect(filtered('words', 'npm')).toEqual([]);
    expect(filtered('all')).toEqual(shown());
  });

  test('a filter that is kept also applies to rows that come later', () => {
    const keep = rowFilter('all', 'later');
    expect(keep(timeline.rows())).toEqual([]);
    timeline.write({ turn: 2, text: 'Later.' });
    expect(shown(keep(timeline.rows()))).toEqual(['turn 3', 'writing Later.']);
  });
});

test('what a run is doing follows from its newest entry and its newest turn', () => {
  const run = { status: 'running', createdAt: timeOf(0), startedAt: timeOf(1) } as const;
  const doing = () => activityOf(run, null, timeline)?.text;
  expect(activityOf({ ...run, status: 'queued' }, null, timeline)?.text).toBe('Waiting to start');
  const asks = { reason: 'question', since: timeOf(9) } as const;
  expect(activityOf({ ...run, status: 'waiting' }, asks, timeline)).toEqual({
    text: 'Waiting for an answer',
    since: timeOf(9),
  });
  expect(activityOf({ ...run, status: 'failed' }, null, timeline)).toBeUndefined();
  expect(activityOf(run, null, timeline)).toEqual({ text: 'Preparing the workspace…', since: timeOf(1) });
  add('setup', '$ npm ci');
  expect(doing()).toBe('Setting up the environment…');
  add('loop', 'Developer begins');
  expect(doing()).toBe('Thinking…');
  timeline.write({ turn: 0, text: 'I' });
  expect(doing()).toBe('Writing…');
  add('model', '', { turn: 1, calls: ['run_command npm test', 'finish'] });
  expect(doing()).toBe('Run npm test…');
  add('tool', 'run_command npm test', { turn: 1, call: 0, ok: true });
  expect(doing()).toBe('Checking the result…');
  add('check', 'npm test: passed', { passed: true });
  expect(doing()).toBe('Running the checks…');
  add('loop', 'something');
  timeline.addTurns([turn(1, 'I')]);
  expect(activityOf(run, null, timeline)).toEqual({ text: 'Thinking…', since: timeOf(41) });
  add('model', '', { turn: 2, calls: ['propose_plan for 2 files'] });
  add('approved', 'mona approved the plan');
  expect(doing()).toBe('Continuing…');
});

test('cards say what an agent does now, and that it goes on after a reply; a line of a log does not end at a colon', () => {
  const now = (call: string) => doingText({ doing: 'calling', call });
  expect(now('run_command npm test')).toBe('Runs npm test');
  expect(now('propose_plan for 2 files')).toBe('Continues after the reply to the plan for 2 files');
  expect(now('ask_person Which branch?')).toBe('Continues with the answer to Which branch?');
  const line = (type: string, text: string) => lineText({ at: timeOf(1), type, text });
  expect(line('said', 'mona said: One line.\nAnother one.')).toBe('mona said: One line. …');
  expect(line('approved', 'mona changed the plan and approved it:\n1. Add it')).toBe(
    'mona changed the plan and approved it',
  );
  expect(line('check', 'npm test: passed')).toBe('npm test: passed');
  expect(line('tool', 'run_command npm test\nmore')).toBe('Run npm test');
});

test('the log is copied as text, and downloaded as JSON with everything', () => {
  add('setup', '$ npm ci');
  timeline.addTurns([turn(1, 'Words', [command('npm test', '[exit code 0] after 1 s\nout')])]);
  expect(logText(timeline.rows())).toBe(
    [
      '',
      `## Turn 1 (${timeOf(41)})`,
      '',
      'Words',
      '',
      '> bash {"command":"npm test"}',
      '  [exit code 0] after 1 s',
      '  out',
      `${timeOf(1)} setup: $ npm ci`,
      '',
    ].join('\n'),
  );
  expect(JSON.parse(runJson({ id: 'run_1' }, timeline))).toEqual({
    run: { id: 'run_1' },
    turns: timeline.turns(),
    events: timeline.events(),
  });
});
