import type { PackageTasks } from '../package-task.ts';

/** Packages that compare and merge values. */
export const values: PackageTasks[] = [
  {
    name: 'deepmerge',
    version: '4.3.1',
    integrity: 'sha512-3sUqbMEc77XqpdNO7FRyRog+eW3ph+GYCbj+rK+uYyRMuwsVy0rMiVtPn+QJlKFvWP/1PYpapqYn0Me2knFn+A==',
    imports: "import merge from '../dist/cjs.js';",
    visible: `
assert.deepEqual(merge({ a: 1 }, { b: 2 }), { a: 1, b: 2 });
assert.deepEqual(merge({ a: { b: 1 } }, { a: { c: 2 } }), { a: { b: 1, c: 2 } });`,
    defects: [
      {
        id: 'arrays',
        title: 'arrays share their elements with the source',
        issue:
          'The result should be a deep copy. After `const result = merge({ list: [] }, { list: [item] })`, a change of `result.list[0]` also changes `item`.',
        places: [
          {
            file: 'dist/cjs.js',
            right:
              'return target.concat(source).map(function(element) {\n\t\treturn cloneUnlessOtherwiseSpecified(element, options)\n\t})',
            wrong: 'return target.concat(source)',
          },
        ],
        hidden: `
const item = { deep: [1] };
const source = { list: [item] };
const result = merge({ list: [item] }, source);
assert.deepEqual(result, { list: [{ deep: [1] }, { deep: [1] }] });
assert.notEqual(result.list[0], item);
assert.notEqual(result.list[1].deep, item.deep);
assert.equal(merge({ list: [] }, source, { clone: false }).list[0], item);`,
        cheat: {
          file: 'dist/cjs.js',
          find: 'return target.concat(source)',
          replace: 'return target.length === 0 ? JSON.parse(JSON.stringify(source)) : target.concat(source)',
        },
      },
      {
        id: 'dates',
        title: 'dates are merged as if they were objects',
        issue: '`merge({ at: 1 }, { at: new Date(0) }).at` is an empty object. It should be the date.',
        places: [
          {
            file: 'dist/cjs.js',
            right: "|| stringValue === '[object Date]'",
            wrong: "|| stringValue === '[object Day]'",
          },
        ],
        hidden: `
const date = new Date(0);
assert.equal(merge({ at: 1 }, { at: date }).at, date);
assert.equal(merge({ a: { at: new Date(5) } }, { a: { at: date } }).a.at.getTime(), 0);
assert.equal(merge({}, { list: [date] }).list[0].getTime(), 0);`,
        cheat: {
          file: 'dist/cjs.js',
          find: '\toptions = options || {};\n\toptions.arrayMerge',
          replace:
            '\tif (source.at instanceof Date) return Object.assign({}, target, source);\n\toptions = options || {};\n\toptions.arrayMerge',
        },
      },
    ],
  },
  {
    name: 'fast-deep-equal',
    version: '3.1.3',
    integrity: 'sha512-f3qQ9oQy9j2AhBe/H9VC91wLmKBCCU/gDOnKNAYG5hswO7BLKj09Hc5HYNz9cGI++xlpDCIgDaitVs03ATR84Q==',
    imports: "import equal from '../index.js';",
    visible: `
assert.equal(equal({ a: [1, 2] }, { a: [1, 2] }), true);
assert.equal(equal({ a: 1 }, { a: 2 }), false);`,
    defects: [
      {
        id: 'flags',
        title: 'regular expressions with different flags are equal',
        issue: '`equal(/foo/i, /foo/)` returns true. The flags matter as much as the source.',
        places: [
          { file: 'index.js', right: 'a.source === b.source && a.flags === b.flags', wrong: 'a.source === b.source' },
        ],
        hidden: `
assert.equal(equal(/foo/i, /foo/), false);
assert.equal(equal([/a/g], [/a/m]), false);
assert.equal(equal({ x: /a/gi }, { x: /a/gi }), true);
assert.equal(equal(/a/, /b/), false);`,
        cheat: {
          file: 'index.js',
          find: '  if (a === b) return true;',
          replace: "  if (a === b) return true;\n  if (String(a) === '/foo/i' && String(b) === '/foo/') return false;",
        },
      },
      {
        id: 'missing-key',
        title: 'undefined and a missing key are taken for the same',
        issue:
          '`equal({ a: undefined }, { b: undefined })` returns true. Both objects need the same keys, also when a value is `undefined`.',
        places: [
          {
            file: 'index.js',
            right: '      if (!Object.prototype.hasOwnProperty.call(b, keys[i])) return false;',
            wrong: '      if (b === null) return false;',
          },
        ],
        hidden: `
assert.equal(equal({ a: undefined }, { b: undefined }), false);
assert.equal(equal({ x: 1, y: undefined }, { x: 1, z: 2 }), false);
assert.equal(equal([{ k: undefined }], [{ l: 1 }]), false);
assert.equal(equal({ a: undefined }, { a: undefined }), true);`,
        cheat: {
          file: 'index.js',
          find: '      if (b === null) return false;',
          replace: "      if (keys[i] === 'a' && !('a' in b)) return false;",
        },
      },
    ],
  },
];
