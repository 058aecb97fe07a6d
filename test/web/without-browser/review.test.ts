import type { FileDiff } from '../../../src/web/api.ts';
import {
  type DraftComment,
  emptyReview,
  isCurrent,
  isViewed,
  linesOf,
  maxComments,
  readReview,
  requestOf,
  withComment,
  withoutComment,
  withViewed,
  writtenComments,
} from '../../../src/web/tasks/review/review.ts';

const file = (changes: Partial<FileDiff> = {}): FileDiff => ({
  path: 'src/a.js',
  status: 'modified',
  additions: 1,
  deletions: 1,
  hunks: [{ oldStart: 4, oldLines: 3, newStart: 4, newLines: 3, lines: [' kept', '-old', '+new', ' end'] }],
  ...changes,
});
const comment = (changes: Partial<DraftComment> = {}): DraftComment => ({
  id: 'c1',
  path: 'src/a.js',
  side: 'new',
  line: 5,
  quote: 'new',
  text: 'Rename this.',
  ...changes,
});

test('each line has its number in the file that it belongs to', () => {
  expect(linesOf(file()).map(({ side, line, quote }) => `${side} ${line} ${quote}`)).toEqual([
    'new 4 kept',
    'old 5 old',
    'new 5 new',
    'new 6 end',
  ]);
});

test('a request has the words about the whole, and each comment with its place and the whole line', () => {
  const comments = [comment({ side: 'old', line: 9, quote: 'z'.repeat(300), text: ' Keep this. ' }), comment()];
  expect(requestOf(' Almost there. ', comments)).toEqual({
    text: 'Almost there.',
    comments: [
      { path: 'src/a.js', side: 'old', line: 9, quote: 'z'.repeat(300), text: 'Keep this.' },
      { path: 'src/a.js', side: 'new', line: 5, quote: 'new', text: 'Rename this.' },
    ],
  });
});

test('comments are added, changed and removed, and an empty one does not count', () => {
  const first = withComment(withComment(emptyReview, comment()), comment({ id: 'c2', text: ' ' }));
  expect(writtenComments(first).map(({ id }) => id)).toEqual(['c1']);
  const changed = withComment(first, comment({ text: 'Or not.' }));
  expect(changed.comments.map(({ text }) => text)).toEqual(['Or not.', ' ']);
  expect(withoutComment(changed, 'c2').comments).toHaveLength(1);
});

test('a review is limited in comments, viewed files and the length of quoted lines', () => {
  let review = emptyReview;
  for (let i = 0; i < maxComments + 5; i++) review = withComment(review, comment({ id: `c${i}` }));
  expect(review.comments).toHaveLength(maxComments);
  expect(withComment(review, comment({ id: 'c0', text: 'Changed.' })).comments[0]?.text).toBe('Changed.');
  for (let i = 0; i < 1005; i++) review = withViewed(review, file({ path: `${i}.js` }), true);
  const paths = Object.keys(review.viewed);
  expect([paths.length, paths.includes('4.js'), paths.includes('1004.js')]).toEqual([1000, false, true]);
  const all = Array.from({ length: 2000 }, (_, i) => i);
  const stored = {
    comments: all.map((i) => comment({ id: `c${i}` })),
    viewed: Object.fromEntries(all.map((i) => [`${i}.js`, 'd'])),
  };
  const read = readReview(JSON.stringify(stored));
  expect([read.comments.length, Object.keys(read.viewed).length]).toEqual([maxComments, 1000]);
  const long = file({
    hunks: [{ oldStart: 1, oldLines: 0, newStart: 1, newLines: 1, lines: [`+${'x'.repeat(5000)}`] }],
  });
  const [line] = linesOf(long);
  expect(line?.quote).toHaveLength(1000);
  expect(isCurrent(comment({ line: 1, quote: line?.quote ?? '' }), { files: [long] })).toBe(true);
});

test('a comment is current while its line is in the diff as it was', () => {
  const current = (given: DraftComment, files: FileDiff[]) => isCurrent(given, { files });
  expect(current(comment(), [file()])).toBe(true);
  expect(current(comment({ quote: 'other' }), [file()])).toBe(false);
  expect(current(comment({ side: 'old' }), [file()])).toBe(false);
  expect(current(comment(), [])).toBe(false);
});

test('a file is viewed until its diff changes', () => {
  const viewed = withViewed(emptyReview, file(), true);
  const changed = file({ hunks: [{ oldStart: 4, oldLines: 1, newStart: 4, newLines: 1, lines: ['-old', '+newer'] }] });
  expect([isViewed(viewed, file()), isViewed(viewed, changed)]).toEqual([true, false]);
  expect(isViewed(viewed, file({ path: 'constructor' }))).toBe(false);
  expect(isViewed(withViewed(viewed, file(), false), file())).toBe(false);
});

test.each<[string, string | null]>([
  ['nothing', null],
  ['no JSON', '{'],
  ['another value', '7'],
  ['other keys', '{"comments":{},"viewed":7}'],
  ['comments without a text', '{"comments":[null,{"id":"c1","path":"a","side":"new","line":1,"quote":""}]}'],
])('a stored review is read although it is %s', (_name, stored) => {
  const { comments, viewed } = readReview(stored);
  expect([comments, viewed]).toEqual([[], {}]);
});

test('a review is read as it was stored', () => {
  const review = withViewed(withComment(emptyReview, comment()), file(), true);
  expect(readReview(JSON.stringify(review))).toEqual(review);
});
