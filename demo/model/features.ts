/** What a change adds to the sample project: one function, in a file of its own. */
export interface Feature {
  /** What titles of tasks say that ask for it. */
  words: RegExp;
  /** What the function does, as a sentence without its subject. */
  does: string;
  parameters: string;
  /** The lines of the function. */
  body: string[];
  /** Arguments of calls in its test, each with the result. They hold with accents and without. */
  cases: [string, string][];
}

/** What the scripted model can do. The first that fits the title of a task is what the task gets. */
const features: Feature[] = [
  {
    words: /separator|underscore|delimiter|hyphen|\bdash/i,
    does: 'joins the words of a slug by a separator of your choice.',
    parameters: "title, separator = '_'",
    body: ["return slugify(title).replaceAll('-', separator);"],
    cases: [
      ["'Hello, world'", "'hello_world'"],
      ["'Hello, world', '.'", "'hello.world'"],
    ],
  },
  {
    words: /\b(long|length|cuts?|short\w*|limits?|max\w*|trim|truncate)\b/i,
    does: 'cuts a slug after its last whole word within a number of characters.',
    parameters: 'title, most = 60',
    body: [
      'const slug = slugify(title);',
      'if (slug.length <= most) return slug;',
      "const end = slug.lastIndexOf('-', most);",
      'return slug.slice(0, end > 0 ? end : most);',
    ],
    cases: [
      ["'One two three', 9", "'one-two'"],
      ["'Unbroken', 4", "'unbr'"],
      ["'Hello, world'", "'hello-world'"],
    ],
  },
  {
    words: /\b(numbers?|units?|decimals?|digits?|percent\w*|prices?|versions?)\b/i,
    does: 'keeps decimals and percentages readable in a slug.',
    parameters: 'title',
    body: ["return slugify(title.replace(/(\\d)[.,](\\d)/g, '$1-point-$2').replaceAll('%', ' percent'));"],
    cases: [
      ["'Release 2.5'", "'release-2-point-5'"],
      ["'50 % more'", "'50-percent-more'"],
    ],
  },
  {
    words: /emojis?|symbols?|ampersand|punctuation|special char/i,
    does: 'spells out symbols before it makes a slug.',
    parameters: 'title',
    body: [
      "const words = { '&': 'and', '+': 'plus', '@': 'at', '❤': 'love', '🚀': 'rocket' };",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of the sample project
      'return slugify(title.replace(/[&+@❤🚀]/gu, (symbol) => ` ${words[symbol]} `));',
    ],
    cases: [
      ["'Salt & pepper'", "'salt-and-pepper'"],
      ["'Lift-off 🚀'", "'lift-off-rocket'"],
    ],
  },
  {
    words: /accent|umlaut|german|diacritic|unicode|language|locale|transliterat/i,
    does: 'writes German letters as two before it makes a slug.',
    parameters: 'title',
    body: [
      "const pairs = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' };",
      'return slugify(title.toLowerCase().replace(/[äöüß]/g, (letter) => pairs[letter]));',
    ],
    cases: [
      ["'Süße Grüße'", "'suesse-gruesse'"],
      ["'Hello, world'", "'hello-world'"],
    ],
  },
  {
    words: /uniq\w*|duplicates?|collisions?|collide|twice|already (taken|exists)/i,
    does: 'adds a number to a slug that is taken.',
    parameters: 'title, taken = []',
    body: [
      'const slug = slugify(title);',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of the sample project
      'for (let n = 1, next = slug; ; next = `${slug}-${++n}`) if (!taken.includes(next)) return next;',
    ],
    cases: [
      ["'Hello'", "'hello'"],
      ["'Hello', ['hello', 'hello-2']", "'hello-3'"],
    ],
  },
  {
    words: /\b(empty|blank|fallback|untitled)\b/i,
    does: 'gives titles without letters or digits a slug, too.',
    parameters: "title, fallback = 'untitled'",
    body: ['return slugify(title) || fallback;'],
    cases: [
      ["'!?'", "'untitled'"],
      ["'!?', 'page'", "'page'"],
      ["'Hello'", "'hello'"],
    ],
  },
  {
    words: /\b(dates?|dated|calendar)\b/i,
    does: 'puts the date of a page before its slug.',
    parameters: 'title, date',
    body: [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of the sample project
      'return `${date.toISOString().slice(0, 10)}-${slugify(title)}`;',
    ],
    cases: [["'Hello, world', new Date('2026-01-05T10:00:00Z')", "'2026-01-05-hello-world'"]],
  },
  {
    words: /\b(paths?|folders?|nested|nesting|hierarchy|slash(es)?)\b/i,
    does: 'makes a path of several titles.',
    parameters: '...titles',
    body: ["return titles.map(slugify).filter((slug) => slug !== '').join('/');"],
    cases: [["'My Garden', 'Red Roses'", "'my-garden/red-roses'"]],
  },
  {
    words: /camel ?case|\bpascal|identifiers?|variable/i,
    does: 'separates the words of a name such as myFirstPage.',
    parameters: 'name',
    body: ["return slugify(name.replace(/([a-z\\d])([A-Z])/g, '$1 $2'));"],
    cases: [
      ["'myFirstPage'", "'my-first-page'"],
      ["'Hello, world'", "'hello-world'"],
    ],
  },
  {
    words: /stop ?words?|filler|articles?\b/i,
    does: 'leaves out words such as "the" and "of".',
    parameters: 'title',
    body: [
      "const short = new Set(['a', 'an', 'the', 'of', 'and']);",
      "return slugify(title).split('-').filter((word) => !short.has(word)).join('-');",
    ],
    cases: [["'The Lord of the Rings'", "'lord-rings'"]],
  },
  {
    words: /\b(html|tags?|markup|markdown)\b/i,
    does: 'leaves out HTML tags before it makes a slug.',
    parameters: 'title',
    body: ["return slugify(title.replace(/<[^<>]*>/g, ' '));"],
    cases: [["'Hello, <em>world</em>'", "'hello-world'"]],
  },
  {
    words: /\b(revers\w*|unslug\w*|deslug\w*|back (in)?to)\b/i,
    does: 'turns a slug back into a title.',
    parameters: 'slug',
    body: [
      "const words = slugify(slug).replaceAll('-', ' ');",
      'return words.charAt(0).toUpperCase() + words.slice(1);',
    ],
    cases: [["'hello-world'", "'Hello world'"]],
  },
  {
    words: /\b(valid\w*|verif\w*|is a slug)\b/i,
    does: 'says whether a text is a slug already.',
    parameters: 'text',
    body: ["return text !== '' && slugify(text) === text;"],
    cases: [
      ["'hello-world'", 'true'],
      ["'Hello, world'", 'false'],
    ],
  },
  {
    words: /\b(many|several|batch|bulk|each line)\b/i,
    does: 'makes a slug of each line of a text.',
    parameters: 'text',
    body: ["return text.split('\\n').map((line) => slugify(line)).join('\\n');"],
    cases: [["'Hello, world\\nBye'", "'hello-world\\nbye'"]],
  },
];

/** Returns what a task gets: by its title, or for any other title a section of the site that is named after it. */
export function featureFor(title: string, section: string): Feature {
  const other: Feature = {
    words: /./,
    does: `puts pages into the section "${section}" of a site.`,
    parameters: 'title',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of the sample project
    body: [`const section = '${section}';`, 'return `${section}/${slugify(title)}`;'],
    cases: [
      ["'Hello, world'", `'${section}/hello-world'`],
      ["'(draft)'", `'${section}/draft'`],
    ],
  };
  return features.find(({ words }) => words.test(title)) ?? other;
}
