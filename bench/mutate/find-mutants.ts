import { applied, changeOf, type Mutant, type Proposal } from './mutant.ts';
import { rules } from './rules.ts';
import { childrenOf, isNode, type Node, parse, rangeOf } from './syntax.ts';

/**
 * All mutants of a source file in the order of their places, or only those in the functions with the given names. Changes
 * that do not parse are left out.
 * @throws when the file does not parse or has no such function
 */
export function findMutants(file: string, text: string, functions: string[] = []): Mutant[] {
  return [...mutantsIn(file, text, functions)];
}

/** The same, one after the other, because each is parsed with its whole file. */
export function* mutantsIn(file: string, text: string, functions: string[] = []): Generator<Mutant> {
  const source = Buffer.from(text);
  const roots = functions.length === 0 ? [parse(text, file)] : functionsNamed(functions, parse(text, file), file);
  const at = (node: Node) => textAt(source, rangeOf(node));
  const proposals = roots
    .flatMap(everyNode)
    .flatMap((node) => rules.flatMap((rule) => rule(node, at)))
    .sort((a, b) => a.start - b.start || a.end - b.end);
  for (const proposal of proposals) if (parses(applied(source, proposal), file)) yield describe(file, source, proposal);
}

function everyNode(node: Node): Node[] {
  return [node, ...childrenOf(node).flatMap(everyNode)];
}

function functionsNamed(names: string[], module: Node, file: string): Node[] {
  const found = everyNode(module).filter(
    ({ type, identifier }) =>
      type === 'FunctionDeclaration' && isNode(identifier) && names.includes(`${identifier.value}`),
  );
  if (found.length !== names.length) throw new Error(`${file}: expected the functions ${names.join(', ')}`);
  return found;
}

function textAt(source: Buffer, { start, end }: { start: number; end: number }): string {
  return source.toString('utf8', start, end);
}

function parses(source: Buffer, file: string): boolean {
  try {
    return parse(source.toString(), file).type === 'Module';
  } catch {
    return false;
  }
}

function describe(file: string, source: Buffer, proposal: Proposal): Mutant {
  const { start, end, replacement } = proposal;
  const line = textAt(source, { start: 0, end: start }).split('\n').length;
  return { file, line, start, end, replacement, change: changeOf(source, proposal) };
}
