import { passedLine } from '../task.ts';

/** Runs unittest's cases and prints the last line only if each of them ran and passed. */
const hiddenFile = (cases: string) => `import sys
import unittest

sys.path.insert(0, '.')
${cases.trim()}


if __name__ == '__main__':
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromModule(sys.modules['__main__']))
    if not result.wasSuccessful() or result.testsRun == 0:
        sys.exit(1)
    print('${passedLine}')
`;

export const python = {
  language: 'Python',
  programs: ['python3'],
  testCommand: 'python3 -m unittest discover -s tests',
} as const;

export const hidden = (cases: string) => ({
  files: { 'hidden_tests.py': hiddenFile(cases) },
  command: 'python3 hidden_tests.py',
});
