import { type Manifest, preloadsOf } from '../../../src/http/pages.ts';

// What the document of the dashboard lets a browser load before its script runs.

const manifest: Manifest = {
  'index.html': { name: 'index', file: 'assets/index-1.js', css: ['assets/index-1.css'], imports: ['_react.js'] },
  '_react.js': { name: 'react', file: 'assets/react-1.js' },
  '_board.js': {
    name: 'board-page',
    file: 'assets/board-1.js',
    css: ['assets/board-1.css'],
    imports: ['index.html', '_react.js', '_select.js'],
  },
  '_select.js': { name: 'Select', file: 'assets/select-1.js', imports: ['_board.js'] },
  'run.tsx': { name: 'run-page', file: 'assets/run-1.js', imports: ['_select.js'] },
};

test('a page is loaded with everything that it imports, except what the document loads anyway', () => {
  expect(preloadsOf(manifest, '/projects/proj_1')).toBe(
    '<link rel="modulepreload" crossorigin href="/assets/select-1.js">' +
      '<link rel="stylesheet" crossorigin href="/assets/board-1.css">' +
      '<link rel="modulepreload" crossorigin href="/assets/board-1.js">',
  );
  expect(preloadsOf(manifest, '/tasks/task_1/runs/run_1/')).toContain('/assets/run-1.js');
});

test.each([
  '/',
  '/tasks/task_1',
  '/projects/proj_1/members',
  '/login',
  '/nonsense',
  '/projects/a/b"><script>',
])('nothing is added for %s, whose page is unknown or not built', (path) =>
  expect(preloadsOf(manifest, path)).toBe(''));

test('a dashboard that was not built has nothing to load', () => {
  expect(preloadsOf({}, '/projects/proj_1')).toBe('');
});
