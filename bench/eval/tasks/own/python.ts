import { written } from '../written-task.ts';
import { hidden, python } from './python-project.ts';

export const pythonTasks = [
  written({
    ...python,
    id: 'own-python-intervals',
    title: 'merge() leaves intervals that touch apart',
    issue:
      '`merge([(1, 3), (3, 5)])` returns two intervals. Intervals that touch, or lie inside each other, belong together: the result should be `[(1, 5)]`. The input may be in any order and must not be changed.',
    files: {
      '.gitignore': '__pycache__/\n',
      'README.md': '# intervals\n\nUnions of intervals. Run the tests with `python3 -m unittest discover -s tests`.\n',
      'intervals/__init__.py': 'from .merge import merge, total\n\n__all__ = ["merge", "total"]\n',
      'intervals/merge.py': `"""Unions of intervals, given as pairs of numbers."""


def merge(intervals):
    """Return the union as a sorted list of disjoint intervals."""
    merged = []
    for start, end in sorted(intervals):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def total(intervals):
    """Return the length of the union."""
    return sum(end - start for start, end in merge(intervals))
`,
      'tests/__init__.py': '',
      'tests/test_merge.py': `import unittest

from intervals import merge, total


class MergeTest(unittest.TestCase):
    def test_separate(self):
        self.assertEqual(merge([(5, 6), (1, 2)]), [(1, 2), (5, 6)])

    def test_overlap(self):
        self.assertEqual(merge([(1, 3), (2, 5)]), [(1, 5)])

    def test_total(self):
        self.assertEqual(total([(0, 2), (5, 6)]), 3)
`,
    },
    gold: [
      {
        file: 'intervals/merge.py',
        find: `        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], end)`,
        replace: `        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))`,
      },
    ],
    cheats: [
      [{ file: 'intervals/merge.py', find: 'start < merged', replace: 'start <= merged' }],
      [{ file: 'intervals/__init__.py', content: 'import os\n\nos._exit(0)\n' }],
    ],
    hidden: hidden(`
from intervals import merge, total


class HiddenTest(unittest.TestCase):
    def test_touch(self):
        self.assertEqual(merge([(1, 3), (3, 5)]), [(1, 5)])

    def test_inside(self):
        self.assertEqual(merge([(1, 10), (2, 3)]), [(1, 10)])
        self.assertEqual(merge([(0, 9), (1, 2), (3, 4), (9, 11)]), [(0, 11)])

    def test_input_is_kept(self):
        given = [(4, 6), (1, 4)]
        merge(given)
        self.assertEqual(given, [(4, 6), (1, 4)])

    def test_total(self):
        self.assertEqual(total([(1, 10), (2, 3)]), 9)
`),
  }),
  written({
    ...python,
    id: 'own-python-csv',
    title: 'Quoted fields keep their doubled quotes',
    issue:
      'In a quoted field, two quotes stand for one. `split_line(\'a,"say ""hi""",b\')` should return `["a", \'say "hi"\', "b"]`. A comma inside quotes is part of the field, as now.',
    traits: ['several files'],
    files: {
      '.gitignore': '__pycache__/\n',
      'README.md': '# tables\n\nReads comma-separated lines.\n',
      'tables/__init__.py': '',
      'tables/lines.py': `"""Splits one line of a comma-separated file."""

from tables.quotes import unquote


def split_line(line):
    fields, field, quoted = [], "", False
    for char in line:
        if char == '"':
            quoted = not quoted
            field += char
        elif char == "," and not quoted:
            fields.append(unquote(field))
            field = ""
        else:
            field += char
    fields.append(unquote(field))
    return fields
`,
      'tables/quotes.py': `"""Removes the quotes of a field."""


def unquote(field):
    text = field.strip()
    if len(text) >= 2 and text[0] == '"' and text[-1] == '"':
        return text[1:-1]
    return text
`,
      'tests/__init__.py': '',
      'tests/test_lines.py': `import unittest

from tables.lines import split_line


class LinesTest(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(split_line("a,b"), ["a", "b"])

    def test_comma_in_quotes(self):
        self.assertEqual(split_line('"a,b",c'), ["a,b", "c"])
`,
    },
    gold: [
      {
        file: 'tables/quotes.py',
        find: '        return text[1:-1]\n',
        replace: `        return text[1:-1].replace('""', '"')\n`,
      },
    ],
    cheats: [
      [
        {
          file: 'tables/quotes.py',
          find: '        return text[1:-1]\n',
          replace: `        return text[1:-1].replace('""', '"', 2)\n`,
        },
      ],
      [{ file: 'tests/test_lines.py', isRemoved: true }],
    ],
    hidden: hidden(`
from tables.lines import split_line


class HiddenTest(unittest.TestCase):
    def test_doubled(self):
        self.assertEqual(split_line('a,"say ""hi""",b'), ["a", 'say "hi"', "b"])

    def test_many(self):
        self.assertEqual(split_line('"""a"" ""b"""'), ['"a" "b"'])

    def test_empty(self):
        self.assertEqual(split_line('"",x'), ["", "x"])

    def test_comma(self):
        self.assertEqual(split_line('"a"",""b",c'), ['a","b', "c"])
`),
  }),
  written({
    ...python,
    id: 'own-python-money',
    title: 'Shares of a bill do not add up',
    issue:
      'A bill of 10.00 split by 3 gives 3.33 three times, and a cent is lost. `split(1000, 3)` (in cents) should give `[334, 333, 333]`: the shares must add up to the bill, and the first ones get the cents that remain. This must also hold for negative bills, which are refunds: `split(-1000, 3)` is `[-334, -333, -333]`.',
    files: {
      'README.md': '# bills\n\nAmounts are whole cents.\n',
      'bills.py': `"""Splits bills. Amounts are whole cents."""


def split(cents, people):
    if people < 1:
        raise ValueError("a bill needs at least one person")
    return [cents // people] * people
`,
      'tests/__init__.py': '',
      'tests/test_bills.py': `import unittest

from bills import split


class SplitTest(unittest.TestCase):
    def test_even(self):
        self.assertEqual(split(900, 3), [300, 300, 300])

    def test_nobody(self):
        with self.assertRaises(ValueError):
            split(1, 0)
`,
    },
    gold: [
      {
        file: 'bills.py',
        find: '    return [cents // people] * people\n',
        replace: `    sign = -1 if cents < 0 else 1
    share, left = divmod(abs(cents), people)
    return [sign * (share + (1 if i < left else 0)) for i in range(people)]
`,
      },
    ],
    cheats: [
      [
        {
          file: 'bills.py',
          find: '    return [cents // people] * people\n',
          replace: `    share, left = divmod(cents, people)
    return [share + (1 if i < left else 0) for i in range(people)]
`,
        },
      ],
    ],
    hidden: hidden(`
from bills import split


class HiddenTest(unittest.TestCase):
    def test_cents_remain(self):
        self.assertEqual(split(1000, 3), [334, 333, 333])
        self.assertEqual(split(5, 3), [2, 2, 1])

    def test_refunds(self):
        self.assertEqual(split(-1000, 3), [-334, -333, -333])

    def test_sums(self):
        for cents in (-7, 0, 1, 99, 12345):
            for people in (1, 2, 7):
                self.assertEqual(sum(split(cents, people)), cents)
`),
  }),
];
