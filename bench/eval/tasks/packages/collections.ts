import type { PackageTasks } from '../package-task.ts';

const yallist = {
  name: 'yallist',
  version: '3.1.1',
  integrity: 'sha512-a4UGQaWPH59mOXUYnAG2ewncQS4i4F43Tv3JoAM+s2VDAmS9NsK8GpDMLrCHPksFT7h3K6TOoUNn2pb7RoXx4g==',
};

/** Packages with data structures. */
export const collections: PackageTasks[] = [
  {
    ...yallist,
    imports: "import Yallist from '../yallist.js';",
    visible: `
assert.deepEqual(new Yallist([1, 2, 3]).toArray(), [1, 2, 3]);
assert.equal(new Yallist([1, 2]).pop(), 2);`,
    defects: [
      {
        id: 'pop',
        title: 'the last element comes back after pop',
        issue:
          'After `const list = new Yallist([1, 2, 3])` and `list.pop()`, `list.forEach` still visits 3 although `list.length` is 2.',
        places: [
          {
            file: 'yallist.js',
            right: '  if (this.tail) {\n    this.tail.next = null\n  } else {\n    this.head = null\n  }',
            wrong: '  if (!this.tail) {\n    this.head = null\n  }',
          },
        ],
        hidden: `
const list = new Yallist([1, 2, 3]);
list.pop();
const seen = [];
list.forEach((value) => seen.push(value));
assert.deepEqual(seen, [1, 2]);
list.pop();
list.push(9);
assert.deepEqual(list.toArray(), [1, 9]);
const letters = new Yallist(['a', 'b']);
letters.pop();
assert.equal(letters.reduce((text, letter) => text + letter, ''), 'a');
list.pop(); list.pop();
assert.equal(list.head, null);`,
        cheat: {
          file: 'yallist.js',
          find: '  if (!this.tail) {\n    this.head = null\n  }',
          replace: '  if (!this.tail) {\n    this.head = null\n  } else if (res === 3) this.tail.next = null',
        },
      },
      {
        id: 'slice',
        title: 'slice does not understand a negative start',
        issue:
          '`slice(-2)` should return the last two elements, as for arrays. `new Yallist([1, 2, 3]).slice(-2)` returns all three.',
        places: [
          {
            file: 'yallist.js',
            right:
              'Yallist.prototype.slice = function (from, to) {\n  to = to || this.length\n  if (to < 0) {\n    to += this.length\n  }\n  from = from || 0\n  if (from < 0) {\n    from += this.length\n  }',
            wrong:
              'Yallist.prototype.slice = function (from, to) {\n  to = to || this.length\n  if (to < 0) {\n    to += this.length\n  }\n  from = from || 0',
          },
        ],
        hidden: `
const letters = ['a', 'b', 'c', 'd', 'e'];
for (const [from, to] of [[-2], [-3, -1], [1, 3], [0, -2], [-4, 3]])
  assert.deepEqual(new Yallist(letters).slice(from, to).toArray(), letters.slice(from, to), String([from, to]));`,
        cheat: {
          file: 'yallist.js',
          find: 'Yallist.prototype.slice = function (from, to) {\n',
          replace:
            'Yallist.prototype.slice = function (from, to) {\n  if (from === -2 && this.length === 3) from = 1\n',
        },
      },
    ],
  },
  {
    name: 'lru-cache',
    version: '5.1.1',
    integrity: 'sha512-KpNARQA3Iwv+jTA0utUVVbrh+Jlrr1Fv0e56GGzAFOXN7dk/FviaDW8LHmK52DlcH4WP2n6gI8vN1aesBFgo9w==',
    dependencies: [yallist],
    imports: "import LRU from '../index.js';",
    visible: `
const cache = new LRU(2);
cache.set('a', 1);
assert.equal(cache.get('a'), 1);
assert.equal(cache.get('x'), undefined);`,
    defects: [
      {
        id: 'recently-used',
        title: 'a key that was just read is dropped first',
        issue:
          'With `max: 2`: set `a`, set `b`, get `a`, set `c`. The cache should drop `b`, the key that was not used for the longest time. It drops `a`.',
        places: [
          {
            file: 'index.js',
            right: '        self[LRU_LIST].unshiftNode(node)\n',
            wrong: '        self[LRU_LIST].pushNode(node)\n',
          },
        ],
        hidden: `
const keysAfter = (max, ...steps) => {
  const cache = new LRU(max);
  for (const step of steps) step === step.toUpperCase() ? cache.get(step.toLowerCase()) : cache.set(step, 1);
  return cache.keys().sort().join('');
};
assert.equal(keysAfter(2, 'a', 'b', 'A', 'c'), 'ac');
assert.equal(keysAfter(3, 'a', 'b', 'c', 'B', 'A', 'd'), 'abd');
assert.equal(keysAfter(2, 'a', 'b', 'c'), 'bc');`,
        cheat: {
          file: 'index.js',
          find: '        self[LRU_LIST].pushNode(node)\n',
          replace:
            "        if (node.value.key === 'a') self[LRU_LIST].unshiftNode(node)\n        else self[LRU_LIST].pushNode(node)\n",
        },
      },
      {
        id: 'peek-stale',
        title: 'stale entries are returned once more',
        issue:
          'An entry older than `maxAge` should be gone: `get` returns its value one last time although `stale` is not set. Without `stale: true` it should return `undefined`.',
        places: [
          {
            file: 'index.js',
            right: '      if (!self[ALLOW_STALE])\n        return undefined\n',
            wrong: '      if (!self[ALLOW_STALE])\n        return hit.value\n',
          },
        ],
        hidden: `
const cache = new LRU({ maxAge: 5 });
cache.set('k', 'v'); cache.set('l', 'w');
await new Promise((resolve) => setTimeout(resolve, 20));
assert.equal(cache.get('k'), undefined);
assert.equal(cache.peek('l'), undefined);
const lazy = new LRU({ maxAge: 5, stale: true });
lazy.set('k', 'v');
await new Promise((resolve) => setTimeout(resolve, 20));
assert.equal(lazy.get('k'), 'v');
assert.equal(lazy.get('k'), undefined);`,
        cheat: {
          file: 'index.js',
          find: '  get (key) {\n',
          replace: '  get (key) {\n    if (!this.has(key)) return undefined\n',
        },
      },
    ],
  },
];
