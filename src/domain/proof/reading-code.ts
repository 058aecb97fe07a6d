/** How programs read a file as text, or ask whether it exists, in the common languages. */
const reading =
  /\b(readFile(Sync)?|createReadStream|existsSync|accessSync|statSync|read_text|read_to_string|file_get_contents|ReadFile|ReadAllText|readString|File\.(read|exist)|path\.(exists|isfile)|Bun\.file|include_str|git (diff|log|show|grep))\b|\bopen\(|\b(grep|cat) /g;
/** How Python returns the text of a function. */
const readsSource = /\bgetsource(lines)?\(/;
/** Programs, as opposed to the data and documents that tests may read. */
const isProgram =
  /\.([cm]?[jt]sx?|vue|svelte|py|rb|go|rs|java|kts?|cs|fs|php|swift|scala|c|h|cc|cpp|hpp|exs?|sh|pl|lua)$/;
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
  const names = new Set(changed.filter((path) => isProgram.test(path)).map(nameOf));
  if (readsSource.test(text) || stringifiesImport(text, names)) return true;
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

const isImport = /\b(import|require)\b(?!\.)/;
/** A line that only imports, or the end of an import of several lines. */
const isImportLine =
  /^\s*(import\b(?!\.)|export\b.* from\b|\}\s*from\b|from\b.*\bimport\b|(const|let|var)\b.*\brequire\()/;

function mentions(text: string, names: Set<string>): boolean {
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
  return [...text.matchAll(/\bString\((\w+)\)|\b(\w+)\.toString\(\)|\$\{(\w+)\}/g)].some(([, a, b, c]) =>
    names.has(a ?? b ?? c ?? ''),
  );
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
