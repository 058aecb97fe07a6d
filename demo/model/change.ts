import { createHash } from 'node:crypto';
import { type Feature, featureFor } from './features.ts';

/** A file of a change. */
export interface File {
  path: string;
  content: string;
}

/** The change that a task gets: files of its own, so that changes of different tasks never conflict. */
export interface Change {
  /** The first one has what people asked for. */
  files: [File, ...File[]];
  /** What it does, for its summary. */
  says: string;
}

interface Asked {
  title: string;
  /** What people asked for besides. */
  wishes: string[];
  /** 1, or more where earlier tasks with the same title have taken the names. */
  number: number;
  /** What the task calls the new section of the site, where it says so. */
  section?: string | undefined;
}

const isDocument = /readme|document|describe|explain|notes?\b|guide|\bdocs?\b|examples?\b|announce/i;

/** Returns the change for a task. */
export function changeFor({ title, wishes, number, section }: Asked): Change {
  const short = shortWords(title);
  const { words } = short;
  // One word alone may be the name of something else, such as slugify, test or delete.
  const name = functionName(words.includes('-') ? words : `slug-${words}`);
  const slug = fileName(title, short, number);
  return isDocument.test(title)
    ? documentChange(title, { slug, name, wishes })
    : codeChange(title, { slug, name, wishes, section: section ?? words });
}

/** Returns the paths that a change may have, the one of its first file first. */
export function pathsOf(title: string, number: number): string[] {
  return changeFor({ title, wishes: [], number }).files.map(({ path }) => path);
}

interface Named {
  /** The name of its files, without their folders and endings. */
  slug: string;
  /** The name of what it exports. */
  name: string;
  wishes: string[];
}

function codeChange(title: string, { slug, name, wishes, section }: Named & { section: string }): Change {
  const feature = featureFor(title, section);
  const [code, tests] = [`src/${slug}.js`, `test/${slug}.test.js`];
  return {
    files: [
      { path: code, content: moduleFor(title, name, feature) + comments(wishes) },
      { path: tests, content: testFor(title, { slug, name, feature }) },
    ],
    says: `\`${name}\` in \`${code}\` ${feature.does} \`${tests}\` fails without it.`,
  };
}

/** A document whose examples are tested, so that they stay right. */
function documentChange(title: string, { slug, name, wishes }: Named): Change {
  const [text, code, tests] = [`docs/${slug}.md`, `src/${slug}.js`, `test/${slug}.test.js`];
  return {
    files: [
      { path: text, content: documentFor(title, code) + wishes.map((wish) => `\n- As you asked: ${wish}\n`).join('') },
      { path: code, content: examplesFor(title, name) },
      { path: tests, content: testOfExamples(title, slug, name) },
    ],
    says: `\`${text}\` explains slugs by the examples in \`${code}\`, and \`${tests}\` keeps them right.`,
  };
}

const comments = (wishes: string[]) => wishes.map((wish) => `\n// As you asked: ${wish}\n`).join('');

/** Returns what people asked for according to a file, which may have git's conflict markers. */
export function wishesWritten(text: string): string[] {
  return [...text.matchAll(/^(?:\/\/|-) As you asked: (.+)$/gm)].map(([, wish = '']) => wish);
}

const moduleFor = (
  title: string,
  name: string,
  { does, parameters, body }: Feature,
) => `import { slugify } from './slugify.js';

/** ${inComment(title)}: ${does} */
export function ${name}(${parameters}) {
${body.map((line) => `  ${line}`).join('\n')}
}
`;

const inComment = (title: string) => title.replaceAll('*/', '* /').replace(/[\s?!.:…]+$/u, '');

function testFor(title: string, { slug, name, feature }: { slug: string; name: string; feature: Feature }): string {
  const asserts = feature.cases.map(([given, result]) => `  assert.equal(${name}(${given}), ${result});`);
  return `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ${name} } from '../src/${slug}.js';

test(${inQuotes(title)}, () => {
${asserts.join('\n')}
});
`;
}

/** Quotes a title as the sample project quotes its texts. */
const inQuotes = (title: string) => (/['\\\p{Cc}]/u.test(title) ? JSON.stringify(title) : `'${title}'`);

const documentFor = (title: string, code: string) => `# ${title}

A slug is the last part of an address, made of a title:

    import { slugify } from '../src/slugify.js';
    slugify('Hello, world'); // hello-world

Letters become small, and everything between two words becomes one dash. \`${code}\` has more examples, which are tested.
`;

const examplesFor = (title: string, name: string) => `/** ${inComment(title)}: titles, and the slugs that they get. */
export const ${name} = {
  'Hello, world': 'hello-world',
  'Chapter 1: The Beginning': 'chapter-1-the-beginning',
  '  (draft)  ': 'draft',
};
`;

const testOfExamples = (title: string, slug: string, name: string) => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ${name} } from '../src/${slug}.js';
import { slugify } from '../src/slugify.js';

test(${inQuotes(title)}, () => {
  for (const [given, result] of Object.entries(${name})) assert.equal(slugify(given), result);
});
`;

/** Words that would make a file of code look like a test, or like a file that decides how tests run. */
const otherWords: Record<string, string> = {
  test: 'check',
  tests: 'checks',
  spec: 'rule',
  specs: 'rules',
  setup: 'start',
  teardown: 'end',
  config: 'settings',
};

/** Longer names are cut between two words. */
const mostChars = 40;

const plainLetters = (title: string) => title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Returns the words of a title as a file may be named after them, and whether they are all. Without Latin letters, it is `slug`. */
function shortWords(title: string): { words: string; areAll: boolean } {
  const found = plainLetters(title).match(/[a-z0-9]+/g) ?? [];
  const safe = found.map((word) => (Object.hasOwn(otherWords, word) ? otherWords[word] : word));
  const slug = /^[a-z]/.test(safe[0] ?? '') && safe.length > 1 ? safe.join('-') : ['slug', ...safe].join('-');
  if (slug.length <= mostChars) return { words: slug, areAll: found.length > 0 };
  return { words: slug.slice(0, slug.lastIndexOf('-', mostChars)).slice(0, mostChars), areAll: false };
}

/** Returns the name of a task's files. Where words leave out letters of the title, it has a mark, so that it stays different. */
function fileName(title: string, { words, areAll }: ReturnType<typeof shortWords>, number: number): string {
  const plain = plainLetters(title);
  const isLossy = !areAll || /\P{ASCII}/u.test(plain.replace(/\p{P}|\p{S}/gu, ''));
  const mark = createHash('sha256').update(plain).digest('hex').slice(0, 4);
  return [words, ...(isLossy ? [mark] : []), ...(number > 1 ? [String(number)] : [])].join('-');
}

const functionName = (slug: string) => slug.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
