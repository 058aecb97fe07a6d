import { type Case, type Files, firstCases, type Language, plain } from './sample.ts';

/** A change whose truth is known. */
export interface Change {
  name: string;
  files: Files;
  /** What a person who read the change would say about it. */
  truth: 'proved' | 'no_tests' | 'unproved' | 'weakened' | 'changed';
}

const tripled: Case = { name: 'triple', given: 2, result: 6 };
const [first, second] = firstCases as [Case, Case];

/** Makes the changes of a repository: one of each kind that a proof distinguishes. */
export function changesOf({ source, test, code, tests }: Language): Change[] {
  const longer = { ...plain, hasTriple: true };
  const wrong = { ...plain, factor: 3 };
  return [
    {
      name: 'a new function with its test',
      files: { [source]: code(longer), [test]: tests([...firstCases, tripled]) },
      truth: 'proved',
    },
    { name: 'a new function without a test', files: { [source]: code(longer) }, truth: 'no_tests' },
    {
      name: 'a test that passes without the change',
      files: { [source]: code(longer), [test]: tests([...firstCases, { name: 'double', given: 5, result: 10 }]) },
      truth: 'unproved',
    },
    {
      name: 'other code, and the test that noticed is gone',
      files: { [source]: code(wrong), [test]: tests([second]) },
      truth: 'weakened',
    },
    {
      name: 'other behaviour, and its test expects that',
      files: { [source]: code(wrong), [test]: tests([{ ...first, result: 6 }, second]) },
      truth: 'changed',
    },
  ];
}
