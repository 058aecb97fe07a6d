import type { PackageTasks } from '../package-task.ts';

const yoctoQueue = {
  name: 'yocto-queue',
  version: '0.1.0',
  integrity: 'sha512-rVksvsnNCdJ/ohGc6xgPwyN8eheCxsiLM8mxuE/t/mOVqJewPuO1miLpTHQiRgTKCLexL4MeAFVagts7HmNZ2Q==',
};

/** Packages that decide which function is called, and when. */
export const calls: PackageTasks[] = [
  {
    ...yoctoQueue,
    imports: "import Queue from '../index.js';",
    visible: `
const queue = new Queue();
queue.enqueue(1);
assert.equal(queue.dequeue(), 1);
assert.equal(queue.dequeue(), undefined);`,
    defects: [
      {
        id: 'size',
        title: 'the size is too large after clear',
        issue:
          'After `enqueue`, `clear` and another `enqueue`, `size` is 2, while the queue has one element. `clear` should set it to 0.',
        places: [
          {
            file: 'index.js',
            right: '\t\tthis._tail = undefined;\n\t\tthis._size = 0;',
            wrong: '\t\tthis._tail = undefined;\n\t\tthis._size = this._size || 0;',
          },
        ],
        hidden: `
const queue = new Queue();
assert.equal(queue.size, 0);
for (const n of [1, 2, 3]) queue.enqueue(n);
queue.clear();
assert.equal(queue.size, 0);
queue.enqueue(4);
assert.equal(queue.size, 1);
assert.deepEqual([...queue], [4]);`,
        cheat: {
          file: 'index.js',
          find: 'this._size = this._size || 0;',
          replace: 'this._size = this._size > 1 ? this._size : 0;',
        },
      },
    ],
  },
  {
    name: 'p-limit',
    version: '3.1.0',
    integrity: 'sha512-TYOanM3wGwNGsZN2cVTYPArw454xnXj5qmWF1bEoAc4+cU/ol7GVh7odevjp1FNHduHc3KZMcFduxU5Xc6uJRQ==',
    dependencies: [yoctoQueue],
    imports: "import pLimit from '../index.js';",
    visible: `
assert.equal(await pLimit(1)(() => 7), 7);
assert.throws(() => pLimit(0), TypeError);`,
    defects: [
      {
        id: 'rejections',
        title: 'a failing function blocks those after it',
        issue:
          'With a limit of 1, when the first function rejects, the second one never runs. A rejection should free the slot like a result does.',
        places: [
          {
            file: 'index.js',
            right: '\t\ttry {\n\t\t\tawait result;\n\t\t} catch {}\n\n\t\tnext();',
            wrong: '\t\ttry {\n\t\t\tawait result;\n\t\t\tnext();\n\t\t} catch {}',
          },
        ],
        hidden: `
const limit = pLimit(1);
const patient = (promise) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 300, 'blocked'))]);
const fails = () => limit(async () => { throw new Error('no'); }).catch((error) => error.message);
assert.equal(await patient(fails()), 'no');
assert.equal(await patient(limit(async () => 'second')), 'second');
assert.equal(await patient(fails()), 'no');
assert.equal(await patient(limit(() => 'third')), 'third');
assert.equal(limit.activeCount, 0);`,
        cheat: {
          file: 'index.js',
          find: '\tconst enqueue = (fn, resolve, ...args) => {\n',
          replace: '\tconst enqueue = (fn, resolve, ...args) => {\n\t\tconcurrency++;\n',
        },
      },
      {
        id: 'arguments',
        title: 'only the first argument reaches the function',
        issue:
          '`limit(fn, ...args)` should call `fn` with all arguments. `await pLimit(1)((...all) => all, 1, 2, 3)` gives `[1]`.',
        places: [
          {
            file: 'index.js',
            right: '\t\tenqueue(fn, resolve, ...args);',
            wrong: '\t\tenqueue(fn, resolve, ...args.slice(0, 1));',
          },
        ],
        hidden: `
const limit = pLimit(2);
const all = (...args) => args;
assert.deepEqual(await limit(all, 1, 2, 3), [1, 2, 3]);
assert.deepEqual(await limit(all, 'a', 'b', 'c', 'd', 'e'), ['a', 'b', 'c', 'd', 'e']);
assert.deepEqual(await limit(all), []);`,
        cheat: { file: 'index.js', find: 'args.slice(0, 1)', replace: 'args.slice(0, 3)' },
      },
    ],
  },
  {
    name: 'zwitch',
    version: '2.0.4',
    integrity: 'sha512-bXE4cR/kVZhKZX/RjPEflHaKVhUVl85noU3v6b8apfQEc1x4A+zBxjZ4lN8LqGd6WZ3dl98pY4o717VFmoPp+A==',
    imports: "import { zwitch } from '../index.js';",
    visible: `
const handle = zwitch('type', { handlers: { a: () => 'A' } });
assert.equal(handle({ type: 'a' }), 'A');
assert.equal(handle({ type: 'b' }), undefined);`,
    defects: [
      {
        id: 'inherited',
        title: 'names from Object.prototype count as handlers',
        issue:
          "`zwitch('type', { handlers: {}, unknown: () => 'unknown' })({ type: 'toString' })` calls `Object.prototype.toString`. Only the handlers' own names should count, so it should return `unknown`.",
        places: [
          {
            file: 'index.js',
            right: 'fn = own.call(handlers, id) ? handlers[id] : one.unknown',
            wrong: 'fn = id in handlers ? handlers[id] : one.unknown',
          },
        ],
        hidden: `
const handle = zwitch('type', { handlers: { a: () => 'A' }, unknown: () => 'unknown', invalid: () => 'invalid' });
for (const type of ['toString', 'constructor', 'hasOwnProperty', 'b']) assert.equal(handle({ type }), 'unknown', type);
assert.equal(handle({ type: 'a' }), 'A');
assert.equal(handle(undefined), 'invalid');`,
        cheat: { file: 'index.js', find: 'id in handlers ?', replace: "id !== 'toString' && id in handlers ?" },
      },
    ],
  },
  {
    name: 'trough',
    version: '2.2.0',
    integrity: 'sha512-tmMpK00BjZiUyVyvrBK7knerNgmgvcV/KLVyuma/SC+TQN167GrMRciANTz09+k3zW8L8t60jWO1GpfkZdjTaw==',
    imports: `import { trough } from '../index.js';
const ran = (pipeline, ...values) => new Promise((resolve) => pipeline.run(...values, (...all) => resolve(all)));`,
    visible: `
assert.deepEqual(await ran(trough().use((n) => n + 1), 1), [null, 2]);
assert.throws(() => trough().use('x'), /function/);`,
    defects: [
      {
        id: 'kept-values',
        title: 'a step that returns nothing loses the value',
        issue:
          'When a step returns nothing, the next step should get the value from before. With `trough().use(() => {}).use((value) => value)` and the value `7` the result is `undefined`; it should be 7.',
        places: [
          {
            file: 'lib/index.js',
            right: 'if (output[index] === null || output[index] === undefined) {',
            wrong: 'if (output[index] === null) {',
          },
        ],
        hidden: `
assert.deepEqual(await ran(trough().use(() => {}).use((value) => value), 7), [null, 7]);
assert.deepEqual(await ran(trough().use(() => {}), 'a', 'b'), [null, 'a', 'b']);
assert.deepEqual(await ran(trough().use((a, b, next) => next(null, undefined, 5)), 'a', 'b'), [null, 'a', 5]);`,
        cheat: {
          file: 'lib/index.js',
          find: 'if (output[index] === null) {',
          replace: 'if (output[index] === null || (output[index] === undefined && values[index] === 7)) {',
        },
      },
      {
        id: 'called-twice',
        title: 'a step that calls back twice continues twice',
        issue:
          "Only the first call of a step's callback should count. When a step calls `next` two times, the final callback also runs two times.",
        places: [
          {
            file: 'lib/index.js',
            right: '    if (!called) {\n      called = true\n',
            wrong: '    if (callback) {\n      called = true\n',
          },
        ],
        hidden: `
const results = [];
trough().use((value, next) => { next(null, 1); next(null, 2); }).run(0, (error, value) => results.push(value));
await new Promise((resolve) => setTimeout(resolve, 20));
assert.deepEqual(results, [1]);
const errors = [];
trough().use((value, next) => { next(new Error('a')); next(null, 2); next(new Error('b')); })
  .run(0, (error) => errors.push(error?.message));
await new Promise((resolve) => setTimeout(resolve, 20));
assert.deepEqual(errors, ['a']);`,
        cheat: {
          file: 'lib/index.js',
          find: '    if (callback) {\n',
          replace: '    if (!called || error) {\n',
        },
      },
    ],
  },
  {
    name: 'before-after-hook',
    version: '4.0.0',
    integrity: 'sha512-q6tR3RPqIB1pMiTRMFcZwuG5T8vwp+vUvEG0vuI6B+Rikh5BfPp2fQ82c925FOs+b0lcFQ8CFrL+KbilfZFhOQ==',
    imports: "import hooks from '../index.js';",
    visible: `
const hook = new hooks.Singular();
hook.before(() => {});
assert.equal(await hook(() => 5), 5);`,
    defects: [
      {
        id: 'remove',
        title: 'removing a hook removes another one',
        issue:
          'After `hook.before("save", first)` and `hook.before("save", second)`, `hook.remove("save", second)` removes `first`. Removing a function that was never added should change nothing, as now.',
        places: [
          {
            file: 'lib/remove.js',
            right: 'state.registry[name].splice(index, 1);',
            wrong: 'state.registry[name].splice(0, 1);',
          },
        ],
        hidden: `
const calls = async (...removed) => {
  const hook = new hooks.Collection();
  const log = [];
  const added = { a: () => log.push('a'), b: () => log.push('b'), c: () => log.push('c') };
  for (const each of Object.values(added)) hook.before('save', each);
  for (const name of removed) hook.remove('save', added[name] ?? (() => {}));
  await hook('save', () => {});
  return log.sort().join('');
};
assert.equal(await calls('b'), 'ac');
assert.equal(await calls('c'), 'ab');
assert.equal(await calls('a', 'c'), 'b');
assert.equal(await calls('x'), 'abc');`,
        cheat: {
          file: 'lib/remove.js',
          find: 'state.registry[name].splice(0, 1);',
          replace: 'state.registry[name].splice(Math.min(index, 1), 1);',
        },
      },
    ],
  },
];
