// Undoes what models add to a text that they quote. Each function returns undefined when it does not apply, and an object
// with `problem` when it is not clear what was meant.

/** The shapes of a line number in front of a line: `12<tab>`, `12→`, `12| `, `12: `. */
const numberShapes = [/^ *(\d+)\t/, /^ *(\d+)→/, /^ *(\d+) ?\| ?/, /^ *(\d+): ?/];

/** Removes the line numbers that were copied with the lines. */
export function withoutNumbers(old, made) {
  const lines = old.replace(/\n$/, '').split('\n');
  for (const shape of numberShapes) {
    const numbers = lines.map((line) => shape.exec(line)?.[1]);
    const first = Number(numbers[0]);
    if (numbers.some((number, i) => number === undefined || Number(number) !== first + i)) continue;
    const bare = (text) =>
      text
        .split('\n')
        .map((line) => line.replace(shape, ''))
        .join('\n');
    const filled = made.split('\n').filter((line) => line !== '');
    const marked = filled.filter((line) => shape.test(line)).length;
    if (marked !== 0 && marked !== filled.length)
      return { problem: 'new has line numbers in front of some of its lines; send it without them' };
    return { old: bare(old), made: marked === 0 ? made : bare(made), difference: 'line numbers' };
  }
  return undefined;
}

/** Undoes JSON escapes that were written twice, where the whole edit is written so and has no line break of its own. */
export function withoutEscapes(old, made) {
  if (!/\\[nt"]/.test(old) || /\n/.test(old) || /\n/.test(made)) return undefined;
  const [a, b] = [unescaped(old), unescaped(made)];
  return a === undefined || b === undefined ? undefined : { old: a, made: b, difference: 'escapes' };
}

function unescaped(text) {
  try {
    return JSON.parse(`"${text.replace(/(?<!\\)((?:\\\\)*)"/g, '$1\\"').replaceAll('\t', '\\t')}"`);
  } catch {
    return undefined;
  }
}

/** Removes a code fence around both texts. */
export function withoutFence(old, made) {
  const [bare, bareMade] = [insideFence(old), insideFence(made)];
  return bare === undefined ? undefined : { old: bare, made: bareMade ?? made, difference: 'a code fence' };
}

function insideFence(text) {
  const lines = text.trim().split('\n');
  const isFenced = lines.length > 2 && /^```[\w-]*$/.test(lines[0]) && lines.at(-1) === '```';
  return isFenced ? lines.slice(1, -1).join('\n') : undefined;
}

/** Removes blank lines before and after. */
export function withoutBlankLines(old, made) {
  const lines = old.split('\n');
  const first = lines.findIndex((line) => line.trim() !== '');
  if (first < 0) return undefined;
  const after = lines.length - 1 - lines.findLastIndex((line) => line.trim() !== '');
  if (first === 0 && after === 0) return undefined;
  const bare = lines.slice(first, lines.length - after).join('\n');
  return { old: bare, made: withoutBlank(made, first, after), difference: 'blank lines around it' };
}

/** Removes up to `before` blank lines from the start of a text and up to `after` from its end. */
function withoutBlank(text, before, after) {
  const lines = text.split('\n');
  for (let i = 0; i < before && lines.length > 1 && lines[0].trim() === ''; i++) lines.shift();
  for (let i = 0; i < after && lines.length > 1 && lines.at(-1).trim() === ''; i++) lines.pop();
  return lines.join('\n');
}
