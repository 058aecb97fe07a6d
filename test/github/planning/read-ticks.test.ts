import { readTicks, tickList } from '../../../src/github/planning/plan-comment.ts';

const comment = (change: (list: string) => string = (list) => list) =>
  [
    '<!-- deckhand:plan -->',
    '**Which?**',
    '',
    change(tickList('step_2', ['One', 'Two', 'Three']).join('\n')),
    '',
    'more',
  ].join('\n');
const tick = (list: string, ...labels: string[]) =>
  labels.reduce((text, label) => text.replace(`[ ] ${label}`, `[x] ${label}`), list);

test('ticks are read back from the comment that was rendered', () => {
  expect(readTicks(comment())).toEqual({ stepId: 'step_2', numbers: [], isSent: false });
  expect(readTicks(comment((list) => tick(list, '1.', '3.')))).toMatchObject({ numbers: [1, 3], isSent: false });
  expect(readTicks(comment((list) => tick(list, '2.', '**Send')))).toMatchObject({ numbers: [2], isSent: true });
  // GitHub's editor ends lines with \r\n.
  expect(readTicks(comment((list) => tick(list, '2.')).replaceAll('\n', '\r\n'))?.numbers).toEqual([2]);
});

test('an option that looks like the last box sends nothing', () => {
  const list = tickList('step_2', ['**Send the ticked options**', 'Two']).join('\n');
  expect(readTicks(tick(list, '1.'))).toEqual({ stepId: 'step_2', numbers: [1], isSent: false });
});

test('only the list of the open question counts', () => {
  expect(readTicks('<!-- deckhand:plan -->\n- [x] 1. One\n- [x] **Send the ticked options**')).toBeUndefined();
  expect(readTicks(`${comment()}\n- [x] 1. Later`)?.numbers).toEqual([]);
  expect(tickList('step_2', [])).toEqual([]);
});
