/** The start of a call of git, in a shell or as a list of arguments, up to its verb. Options may have values. */
const git = (() => {
  const end = String.raw`['", [\]]{1,20}`;
  const value = String.raw`[^\s'",-][^\s'",]{0,100}${end}`;
  return String.raw`\bgit${end}((?:-[^\s'",]{1,100}${end}(?:${value}){0,3}){0,4})`;
})();
/** How programs read a file as text, or ask about it, in the common languages. */
const reading = new RegExp(
  [
    // JavaScript
    String.raw`\b(readFile|readv?|createReadStream|exists|access|l?stat|readdir|opendir|open|openAsBlob|copyFile|cp|Bun\.file|Deno\.(read\w*|open|l?stat))(Sync)?\(`,
    // Python, Ruby, PHP, Go, Rust, Java, C#
    String.raw`\b(read_text|read_bytes|read_to_string|getsize|getmtime|getlines?|get_data|path\.(exists|isfile)|importlib\.resources)\b|\bopen\(`,
    String.raw`\b(IO\.(read\w*|foreach|binread)|File\.(read\w*|exist\w*|open|size|foreach)|file_get_contents|filesize|fopen)\b`,
    String.raw`\b(ReadFile|ReadAllText|ReadAllLines|readString|readAllLines|readAllBytes|os\.(Open|Stat)|include_(str|bytes))\b|//go:embed\b`,
    // Programs
    String.raw`${git}(diff|log|show|grep|blame|hash-object|cat-file|status|ls-files)\b`,
    String.raw`\b(e?grep|rg|cat|head|tail|sed|awk|wc|od|xxd|strings|diff|cmp|cksum|b2sum|md5sum|sha\d+sum|stat)['"]?[ ,]|\bdone *<`,
  ].join('|'),
  'g',
);
/** How languages return the text of a function, or what it was compiled to. */
const readsSource =
  /\bgetsource(lines)?\(|\.__code__\b|\bfunc_code\b|\.source_location\b|->getFileName\(|\bdis\.(dis|get_instructions|Bytecode)\(/;
/** How a test asks git for the code of the whole repository, unless it works in a repository of its own. */
const asksGit = new RegExp(String.raw`${git}(?:diff|show|grep|blame|hash-object|status|ls-files)\b`, 'g');
const inOtherFolder = /\b(cwd|chdir|init|clone|mkdtemp\w*|te?mp\w*)\b/;
/** The folders in which git works, among its options. */
const gitFolder = /(?:^|['", [\]])-C['", [\]]{0,20}([^\s'",]{1,100})/g;
/** How languages name temporary folders and the functions that make them. */
const temporary = /\b(?:mkd?)?te?mp(?!late|erature)|[a-z_.]Te?mp(?!late|erature)|\bTe?mp(?=Dir)|TMP/;
/** Programs, as opposed to the data and documents that tests may read. */
const programName =
  /\.([cm]?[jt]sx?|vue|svelte|astro|py|rb|go|rs|java|kts?|cs|fs|php|swift|scala|c|h|cc|cpp|hpp|exs?|sh|bash|pl|lua|dart|sql)$/;
/** A name without an ending, such as those of commands. */
const commandName = /^[a-z][a-z0-9_-]*$/;

/** Returns whether a file is a program by its name. */
export function isProgram(path: string): boolean {
  return programName.test(path) || commandName.test(nameOf(path));
}

const assignment = /\b(\w+) *(:=|=)(?!=)/;
const importing =
  /\bimport\b(?!\.)([^'"]{0,2000})from\s{0,20}['"]([^'"]{1,300})['"]|\b(?:const|let|var)\b([^=]{0,500})=\s{0,20}require\(['"]([^'"]{1,300})['"]/g;
/** The characters around the name of a function that reads, among which its argument is looked for. */
const window = 200;
/** How often names are followed from one assignment to the next. */
const steps = 3;
/** Characters of a test that are looked at. */
const maxChars = 100_000;

/**
 * Returns whether the new lines of a test read the text of a changed program, or of a function, instead of running it.
 * Such a test fails without the change whatever the change does.
 */
export function readsCode(lines: string[], changed: string[]): boolean {
  const text = lines.join('\n').slice(0, maxChars);
  const names = new Set(changed.filter(isProgram).map(nameOf));
  if (readsSource.test(text) || stringifiesImport(text, names)) return true;
  if (asksGitHere(text)) return true;
  for (let step = 0; step < steps; step++)
    for (const line of text.split('\n')) {
      const name = assignment.exec(line)?.[1];
      if (name !== undefined && mentions(line, names) && !isImport.test(line)) names.add(name);
    }
  const used = text
    .split('\n')
    .filter((line) => !isImportLine.test(line))
    .join('\n');
  return [...used.matchAll(reading)].some(({ index }) => {
    const start = Math.max(used.lastIndexOf('\n', index) + 1, index - window);
    const [statement = ''] = used.slice(index, index + window).split(';');
    return mentions(used.slice(start, index) + statement, names);
  });
}

/** Returns whether a text asks git about the repository that is tested, and not about one that it made. */
function asksGitHere(text: string): boolean {
  const calls = [...text.matchAll(asksGit)].map(([, options = '']) => options);
  if (calls.length === 0) return false;
  const folders = temporaryNames(text);
  const isTemporary = (folder: string) => temporary.test(folder) || mentions(folder, folders);
  return calls.some((options) => {
    const named = [...options.matchAll(gitFolder)].map(([, folder = '']) => folder);
    return named.length > 0 ? !named.every(isTemporary) : !inOtherFolder.test(text);
  });
}

/** What a line defines: a variable, or a function such as a fixture of pytest. */
const definition = /\b(?:def|func|function|fn) +(\w+) *\(|\b(\w+) *(?::=|=)(?!=)/;

/** Returns the names that stand for a temporary folder or for something in it. */
function temporaryNames(text: string): Set<string> {
  const names = new Set<string>();
  for (let step = 0; step < steps; step++)
    for (const line of text.split('\n')) {
      const [, called, assigned] = definition.exec(line) ?? [];
      const name = called ?? assigned;
      if (name !== undefined && (temporary.test(line) || mentions(line, names))) names.add(name);
    }
  return names;
}

const isImport = /\b(import|require)\b(?!\.)/;
/** A line that only imports, or the end of an import of several lines. */
const isImportLine =
  /^\s*(import\b(?!\.)|export\b.* from\b|\}\s*from\b|from\b.*\bimport\b|(const|let|var)\b.*\brequire\()/;

function mentions(text: string, names: Set<string>): boolean {
  if (names.size === 0) return false;
  const words = text.split(/[^\w.-]+/).flatMap((word) => [word, ...word.split('.')]);
  return words.some((word) => names.has(word));
}

/** Returns whether something imported from a changed program is turned into text. Names in capitals are values. */
function stringifiesImport(text: string, changed: Set<string>): boolean {
  const modules = new Set([...changed].map((name) => name.replace(/\.\w+$/, '')));
  const imported = [...text.matchAll(importing)]
    .filter(([, , from, , required]) => modules.has(nameOf(from ?? required ?? '').replace(/\.\w+$/, '')))
    .flatMap(([, names, , others]) => (names ?? others ?? '').split(/\W+/));
  const names = new Set(imported.filter((name) => /[a-z]/.test(name) && name !== 'type' && name !== 'as'));
  return [...text.matchAll(asText)].some((found) => found.slice(1).some((name) => names.has(name ?? '')));
}

/** How JavaScript turns a value into text. */
const asText =
  /\bString\((\w+)\)|\b(\w+)\.toString\(\)|\$\{(\w+)\}|\b(\w+) *\+ *(?:''|""|``)|(?:''|""|``) *\+ *(\w+)\b(?![.(])|\binspect\((\w+)[,)]|\btoString\.call\((\w+)\)/g;

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
