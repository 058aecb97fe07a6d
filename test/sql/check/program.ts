import { join } from 'node:path';
import ts from 'typescript-checker';

/** A program that is checked: its files, and what TypeScript knows about them. */
export interface Program {
  files: ts.SourceFile[];
  checker: ts.TypeChecker;
  /** Returns the file and line of a node. */
  place(node: ts.Node): string;
}

/** Reads the given files with the options of the project. */
export function openProgram(root: string, roots: string[]): Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: roots }, ts.sys, root);
  const given = { ...options, noEmit: true, types: ['node'] };
  // Nobody asks for the comments of dependencies, which are a third of their text.
  const host = { ...ts.createCompilerHost(given), jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
  const program = ts.createProgram(roots, given, host);
  const files = program.getSourceFiles().filter((file) => !file.isDeclarationFile && roots.includes(file.fileName));
  return {
    files,
    checker: program.getTypeChecker(),
    place: (node) => {
      const file = node.getSourceFile();
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      return `${file.fileName.slice(root.length + 1)}:${line + 1}`;
    },
  };
}

/** The types of which a method runs a statement, and the place of the text among its arguments. */
const runners = new Map([
  ['EntityManager.query', 0],
  ['QueryRunner.query', 0],
  ['DataSource.query', 0],
  ['Pool.query', 0],
  ['Client.query', 0],
  ['ClientBase.query', 0],
  ['PoolClient.query', 0],
  ['Database.prepared', 1],
]);

/** Returns which argument of a call is the text of a statement; undefined if it runs none. */
export function textArgument(checker: ts.TypeChecker, node: ts.Node): number | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const method = node.expression.name.text;
  if (method !== 'query' && method !== 'prepared') return undefined;
  const type = checker.getTypeAtLocation(node.expression.expression);
  const names = (type.isUnionOrIntersection() ? type.types : [type]).map((part) => part.symbol?.name);
  return names.map((name) => runners.get(`${name}.${method}`)).find((place) => place !== undefined);
}

/** Calls `visit` for every node of a file. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** Returns the functions around a node, the innermost first. */
function functionsAround(node: ts.Node): ts.FunctionLikeDeclaration[] {
  const found: ts.FunctionLikeDeclaration[] = [];
  for (let at = node.parent; at !== undefined; at = at.parent)
    if (ts.isFunctionLike(at) && 'body' in at && at.body !== undefined) found.push(at as ts.FunctionLikeDeclaration);
  return found;
}

export const innermostFunction = (node: ts.Node) => functionsAround(node)[0];
export const outermostFunction = (node: ts.Node) => functionsAround(node).at(-1);
