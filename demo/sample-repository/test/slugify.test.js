import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slugify } from '../src/slugify.js';

test('joins words by dashes', () => {
  assert.equal(slugify('Hello, world'), 'hello-world');
});

test('leaves no dash at the ends', () => {
  assert.equal(slugify('  (draft)  '), 'draft');
});
