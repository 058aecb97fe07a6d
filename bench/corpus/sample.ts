/** The files of a repository, by path. */
export type Files = Record<string, string | Buffer>;

/** What a trial of a repository should find. */
export interface Expected {
  /** The commands of set-up that are detected, in order. */
  setup: string[];
  /** The usual checks that pass and are drafted. */
  checks: string[];
  /** The ports of services that are drafted as comments. */
  services?: number[];
  /** Side folders in which no usual check is found. */
  unchecked?: string[];
  /** What the draft offers as a comment for the files of a run. */
  checkout?: string;
  /** Where the draft alone is not enough: what the trial says so that a person knows what to do. */
  hint?: RegExp;
}

/** A small project in one language, of which changes can be made whose truth is known. */
export interface Language {
  source: string;
  test: string;
  /** The code, with functions `double` and perhaps `triple`. */
  code(what: Functions): string;
  /** Tests of these functions. There is always one at least. */
  tests(cases: Case[]): string;
}

export interface Functions {
  /** By what `double` multiplies. */
  factor: number;
  hasTriple: boolean;
}

export interface Case {
  name: 'double' | 'triple';
  given: number;
  result: number;
}

/** A repository of the corpus. */
export interface Sample {
  name: string;
  /** What makes it different from the others. */
  about: string;
  /** Programs without which it can only be detected. They have to be below /usr, which the sandbox shows. */
  needs: string[];
  files: Files;
  /** Files that set-up and checks use of other repositories: their name, and their files. */
  submodules?: { path: string; files: Files; submodules?: { path: string; files: Files }[] }[];
  expected: Expected;
  language?: Language;
}

export const plain: Functions = { factor: 2, hasTriple: false };
export const firstCases: Case[] = [
  { name: 'double', given: 2, result: 4 },
  { name: 'double', given: 0, result: 0 },
];

/** Returns the files of a language before any change. */
export function filesOf(language: Language): Files {
  return { [language.source]: language.code(plain), [language.test]: language.tests(firstCases) };
}
