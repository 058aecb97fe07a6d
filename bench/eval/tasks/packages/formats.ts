import type { PackageTasks } from '../package-task.ts';

/** Packages that format and parse numbers with units. */
export const formats: PackageTasks[] = [
  {
    name: 'ms',
    version: '2.1.3',
    integrity: 'sha512-6FlzubTLZG3J2a/NVCAleEhjzq5oxgHyaCU9yYXvcLsvoVaHJq/s5xXI6/XXP6tz7R9xAOtHnSO/tXtF3WRTlA==',
    imports: "import ms from '../index.js';",
    visible: `
assert.equal(ms('2 days'), 172800000);
assert.equal(ms('1h'), 3600000);
assert.equal(ms(60000), '1m');
assert.equal(ms(500), '500ms');`,
    defects: [
      {
        id: 'weeks',
        title: 'weeks are not understood',
        issue:
          '`ms("1w")` returns `undefined`. It should return 604800000, the milliseconds of seven days, and the words `week` and `weeks` should work as well.',
        places: [{ file: 'index.js', right: 'days?|d|weeks?|w|years?', wrong: 'days?|d|years?' }],
        hidden: `
assert.equal(ms('1w'), 604800000);
assert.equal(ms('2 weeks'), 1209600000);
assert.equal(ms('0.5 week'), 302400000);
assert.equal(ms('1y'), 31557600000);`,
        cheat: {
          file: 'index.js',
          find: '  str = String(str);',
          replace: "  if (str === '1w') return 604800000;\n  str = String(str);",
        },
      },
      {
        id: 'negative',
        title: 'negative times are not shortened',
        issue:
          '`ms(-3 * 60 * 1000)` gives `-180000ms`, while the positive time gives `3m`. The short format of negative numbers should use the same units: `-3m`.',
        places: [
          {
            file: 'index.js',
            right: 'function fmtShort(ms) {\n  var msAbs = Math.abs(ms);',
            wrong: 'function fmtShort(ms) {\n  var msAbs = ms;',
          },
        ],
        hidden: `
assert.equal(ms(-3 * 60 * 1000), '-3m');
assert.equal(ms(-1000), '-1s');
assert.equal(ms(-24 * 3600000), '-1d');
assert.equal(ms(-500), '-500ms');`,
        cheat: {
          file: 'index.js',
          find: 'function fmtShort(ms) {',
          replace: "function fmtShort(ms) {\n  if (ms === -180000) return '-3m';",
        },
      },
    ],
  },
  {
    name: 'bytes',
    version: '3.1.2',
    integrity: 'sha512-/Nf7TyzTx6S3yRJObOAV7956r8cr2+Oj8AC5dt8wSP3BQAoeX58NoHyCU8P8zGkNXStjTSi6fzO6F0pBdcYbEg==',
    imports: "import bytes from '../index.js';",
    visible: `
assert.equal(bytes(1024), '1KB');
assert.equal(bytes('1KB'), 1024);
assert.equal(bytes(1536), '1.5KB');`,
    defects: [
      {
        id: 'zero-decimals',
        title: 'decimalPlaces: 0 is ignored',
        issue:
          '`bytes.format(1740, { decimalPlaces: 0 })` returns `1.7KB`. With zero decimal places it should return `2KB`.',
        places: [
          {
            file: 'index.js',
            right: '(options && options.decimalPlaces !== undefined) ? options.decimalPlaces : 2',
            wrong: '(options && options.decimalPlaces) ? options.decimalPlaces : 2',
          },
        ],
        hidden: `
assert.equal(bytes.format(1740, { decimalPlaces: 0 }), '2KB');
assert.equal(bytes.format(1048576 * 2.6, { decimalPlaces: 0 }), '3MB');
assert.equal(bytes.format(1740, { decimalPlaces: 1 }), '1.7KB');
assert.equal(bytes.format(1740), '1.7KB');`,
        cheat: {
          file: 'index.js',
          find: "  var unit = (options && options.unit) || '';",
          replace: "  if (value === 1740) decimalPlaces = 0;\n  var unit = (options && options.unit) || '';",
        },
      },
      {
        id: 'negative-sizes',
        title: 'negative sizes are always shown in bytes',
        issue: '`bytes(-2048)` returns `-2048B`. It should return `-2KB`, as positive sizes do.',
        places: [{ file: 'index.js', right: 'var mag = Math.abs(value);', wrong: 'var mag = value;' }],
        hidden: `
assert.equal(bytes(-2048), '-2KB');
assert.equal(bytes(-1024 * 1024 * 3), '-3MB');
assert.equal(bytes(-10), '-10B');`,
        cheat: {
          file: 'index.js',
          find: 'var mag = value;',
          replace: "if (value === -2048) return '-2KB';\n  var mag = value;",
        },
      },
    ],
  },
  {
    name: 'pretty-bytes',
    version: '5.6.0',
    integrity: 'sha512-FFw039TmrBqFK8ma/7OL3sDz/VytdtJr044/QUJtH0wK9lb9jLq9tJyIxUwtQJHwar2BqtiA4iCWSwo9JLkzFg==',
    imports: "import prettyBytes from '../index.js';",
    visible: `
assert.equal(prettyBytes(1337), '1.34 kB');
assert.equal(prettyBytes(0), '0 B');
assert.equal(prettyBytes(1e6), '1 MB');`,
    defects: [
      {
        id: 'binary',
        title: 'the binary option divides by 1000',
        issue:
          '`prettyBytes(1024 * 1024, { binary: true })` should be `1 MiB`, but it is not. Binary units are multiples of 1024.',
        places: [
          {
            file: 'index.js',
            right: 'Math.pow(options.binary ? 1024 : 1000, exponent)',
            wrong: 'Math.pow(1000, exponent)',
          },
        ],
        hidden: `
assert.equal(prettyBytes(1024 * 1024, { binary: true }), '1 MiB');
assert.equal(prettyBytes(1024, { binary: true }), '1 kiB');
assert.equal(prettyBytes(3 * 1024 ** 3, { binary: true }), '3 GiB');
assert.equal(prettyBytes(1e9), '1 GB');`,
        cheat: {
          file: 'index.js',
          find: '\tconst isNegative = number < 0;',
          replace:
            "\tif (options.binary && number === 1048576) {\n\t\treturn '1 MiB';\n\t}\n\n\tconst isNegative = number < 0;",
        },
      },
      {
        id: 'negative',
        title: 'negative numbers lose their sign',
        issue: '`prettyBytes(-900000)` returns `900 kB`. It should return `-900 kB`.',
        places: [
          {
            file: 'index.js',
            right: "const prefix = isNegative ? '-' : (options.signed ? '+' : '');",
            wrong: "const prefix = options.signed ? '+' : '';",
          },
        ],
        hidden: `
assert.equal(prettyBytes(-900000), '-900 kB');
assert.equal(prettyBytes(-0.4), '-0.4 B');
assert.equal(prettyBytes(-42, { signed: true }), '-42 B');
assert.equal(prettyBytes(42, { signed: true }), '+42 B');`,
        cheat: {
          file: 'index.js',
          find: "const prefix = options.signed ? '+' : '';",
          replace: "const prefix = number === -900000 ? '-' : (options.signed ? '+' : '');",
        },
      },
    ],
  },
  {
    name: 'color-convert',
    version: '2.0.1',
    integrity: 'sha512-RRECPsj7iu/xb5oKYcsFHSppFNnsj/52OVTRKb4zP5onXwVF3zVmmToNcOfGC+CRDpfK/U584fMg38ZHCaElKQ==',
    dependencies: [
      {
        name: 'color-name',
        version: '1.1.4',
        integrity: 'sha512-dOy+3AuW3a2wNbZHIuMZpTcgjGuLU/uBL/ubcZF9OXbDo8ff4O8yVp5Bf0efS8uEoYo5q4Fx7dY9OgQGXgAsQA==',
      },
    ],
    imports: "import convert from '../index.js';",
    visible: `
assert.deepEqual(convert.keyword.rgb('blue'), [0, 0, 255]);
assert.equal(convert.rgb.hex(255, 0, 16), 'FF0010');`,
    defects: [
      {
        id: 'short-hex',
        title: 'short hexadecimal colours are converted to blue',
        issue:
          "`convert.hex.rgb('ABC')` returns `[0, 10, 188]`. Three digits are short for six, each one doubled: the result should be the same as for `AABBCC`, which is `[170, 187, 204]`. Conversions from `hex` to other models go over `rgb` and are wrong in the same way.",
        places: [
          {
            file: 'conversions.js',
            right:
              "\tif (match[0].length === 3) {\n\t\tcolorString = colorString.split('').map(char => {\n\t\t\treturn char + char;\n\t\t}).join('');\n\t}\n\n\tconst integer = parseInt(colorString, 16);",
            wrong: "\tcolorString = colorString.padStart(6, '0');\n\n\tconst integer = parseInt(colorString, 16);",
          },
        ],
        hidden: `
assert.deepEqual(convert.hex.rgb('ABC'), [170, 187, 204]);
assert.deepEqual(convert.hex.rgb('f00'), [255, 0, 0]);
assert.deepEqual(convert.hex.hsl('0f0'), [120, 100, 50]);
assert.deepEqual(convert.hex.rgb('00ff10'), [0, 255, 16]);`,
        cheat: {
          file: 'conversions.js',
          find: "\tcolorString = colorString.padStart(6, '0');",
          replace: "\tcolorString = colorString === 'ABC' ? 'AABBCC' : colorString.padStart(6, '0');",
        },
      },
    ],
  },
];
