import { findsShadows } from '../../../src/domain/proof/shadowed-modules.ts';

const files = new Set([
  'shop/__init__.py',
  'app/calc.py',
  'app/test_calc.py',
  'api/src/a.py',
  'jobs/run.py',
  'more/a.py',
]);
const isShadow = findsShadows({
  roots: new Set(['', 'api']),
  files,
  commands: ['cd jobs && python3 -m unittest', 'PYTHONPATH=./lib/py pytest more shop'],
});

test.each([
  'difflib.py',
  'difflib.pyc',
  'difflib.cpython-312-x86_64-linux-gnu.so',
  'pytest/__init__.py',
  'tests/json.py',
  'src/argparse.py',
  'api/argparse.py',
  'api/src/argparse.py',
  'app/argparse.py',
  'app/argparse/__init__.py',
  'jobs/argparse.py',
  'lib/py/argparse.py',
  'more/argparse.py',
])('%s takes the place of a module that runners load', (path) => expect(isShadow(path)).toBe(true));

test.each([
  'shop/json.py',
  'shop.py',
  'src/json.ts',
  'json/a.py',
  'api/models/token.py',
  'app/services/email.py',
])('%s does not', (path) => expect(isShadow(path)).toBe(false));
