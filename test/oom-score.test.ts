import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { exposeToOom, protectFromOom } from '../src/host/own-process.ts';

const child = spawn('sleep', ['1000']);
afterAll(() => void child.kill('SIGKILL'));
const file = `/proc/${child.pid}/oom_score_adj`;
const score = () => Number(readFileSync(file, 'utf8'));

test('a process is protected as far as permitted, and its score never gets worse', () => {
  writeFileSync(file, '300');
  protectFromOom(child.pid, 200);
  expect(score()).toBe(200);
  protectFromOom(child.pid, 400);
  expect(score()).toBe(200);
  // Without permission this does nothing and throws no error.
  protectFromOom(child.pid, -500);
  expect(score()).toBeLessThanOrEqual(200);
  exposeToOom(child.pid);
  expect(score()).toBe(500);
});

test('protecting a process that is gone throws no error', () => {
  protectFromOom(99_999_999, -500);
  exposeToOom(99_999_999);
  exposeToOom(undefined);
});
