import { parseTemplate } from '../../../src/repositories/templates/parse-template.ts';
import { filledFrom } from '../../../src/web/tasks/editing/new-task-texts.ts';

const markdown = (text: string) => parseTemplate('.github/ISSUE_TEMPLATE/bug.md', text);
const form = (text: string) => parseTemplate('.github/ISSUE_TEMPLATE/bug.yml', text);

test('a Markdown template has its front matter as title and name, and the rest as description', () => {
  const text = `---\r\nname: Bug report\r\nabout: Create a report to help us improve\r\ntitle: '[BUG] '\r\nlabels: bug\r\nassignees: octocat\r\n---\r\n\r\n**Describe the bug**\r\nA clear description.\r\n`;
  expect(markdown(text)).toEqual({
    name: 'Bug report',
    about: 'Create a report to help us improve',
    title: '[BUG]',
    description: '**Describe the bug**\nA clear description.',
  });
});

test('an issue form becomes the Markdown that GitHub makes of it, with hints as comments', () => {
  const text = `name: Bug Report
description: File a bug report.
title: "[Bug]: "
labels: ["bug", "triage"]
body:
  - type: markdown
    attributes:
      value: Thanks for taking the time!
  - type: input
    id: contact
    attributes:
      label: Contact Details
      description: How can we get in touch -- if we may?
      placeholder: ex. email@example.com
  - type: textarea
    attributes:
      label: What happened?
      value: "A bug happened!"
    validations:
      required: true
  - type: dropdown
    attributes:
      label: Version
      options:
        - 1.0.2 (Default)
        - 1.0.3 (Edge)
  - type: checkboxes
    attributes:
      label: Code of Conduct
      options:
        - label: I agree
          required: true
`;
  expect(form(text)).toEqual({
    name: 'Bug Report',
    about: 'File a bug report.',
    title: '[Bug]:',
    description: `### Contact Details

<!-- How can we get in touch ‐‐ if we may? -->

### What happened?

A bug happened!

### Version

<!-- One of: 1.0.2 (Default), 1.0.3 (Edge) -->

### Code of Conduct

- [ ] I agree`,
  });
});

test.each([
  ['a file without front matter', markdown, 'Just text.'],
  ['a template without a name', markdown, '---\nabout: x\n---\ntext'],
  ['front matter that is no YAML', markdown, '---\nname: [\n---\ntext'],
  ['front matter without an end', markdown, '---\nname: x\ntext'],
  ['a form without a body', form, 'name: x\ndescription: y\n'],
  ['a form whose aliases multiply', form, bomb()],
])('%s is no template', (_name, read, text) => expect(read(text)).toBeUndefined());

function bomb(): string {
  const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 9; i++) {
    const [name, before] = ['abcdefghi'[i], 'abcdefghi'[i - 1]];
    lines.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`);
  }
  return `name: x\n${lines.join('\n')}\nbody: *i\n`;
}

test('elements that make no sense are left out, and long texts are cut to what a task takes', () => {
  expect(form('name: x\nbody:\n  - 7\n  - type: input\n  - type: input\n    attributes: {label: A}\n')).toEqual({
    ...{ name: 'x', about: '', title: '' },
    description: '### A',
  });
  const long = markdown(`---\nname: x\ntitle: ${'t'.repeat(500)}\n---\n${'d'.repeat(60_000)}`);
  expect([long?.title.length, long?.description.length]).toEqual([200, 50_000]);
});

test('a template fills what the person has not written, and goes when another one is chosen', () => {
  const bug = { title: 'Bug:', description: '### What happened?' };
  const idea = { title: 'Idea:', description: '### Why?' };
  const filled = filledFrom({ title: '', description: '' }, undefined, bug);
  expect(filled).toEqual(bug);
  expect(filledFrom(filled, bug, idea)).toEqual(idea);
  expect(filledFrom(filled, bug, undefined)).toEqual({ title: '', description: '' });
  const written = { title: 'It crashes', description: 'Since yesterday.\n' };
  expect(filledFrom(written, undefined, bug)).toEqual({
    title: 'It crashes',
    description: 'Since yesterday.\n\n### What happened?',
  });
});
