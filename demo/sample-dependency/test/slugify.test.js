import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachCase } from 'each-case';
import { slugify } from '../src/slugify.js';

test('joins words by dashes', () => {
  eachCase(slugify, { 'Hello, world': 'hello-world', 'one two  three': 'one-two-three' });
});

test('leaves no dash at the ends', () => {
  assert.equal(slugify('  (draft)  '), 'draft');
});
