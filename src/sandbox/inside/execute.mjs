import { spawn } from 'node:child_process';
import { ToolError } from './tool-error.mjs';

/**
 * Runs a program in the workspace with limited memory, and gives its output to `take`, which ends the program by
 * returning false. Kills the program when the time is up. It stays in the session of the tool host, whose priority is
 * lower.
 */
export function execute(root, [program, ...args], { kilobytes, ms, take }) {
  return new Promise((done, fail) => {
    const limited = ['-c', `ulimit -v ${kilobytes}; exec "$0" "$@"`, program, ...args];
    const options = { cwd: root, env: { LC_ALL: 'C.UTF-8' }, stdio: ['ignore', 'pipe', 'pipe'] };
    const child = spawn('/bin/sh', limited, options);
    let complaint = '';
    let isOver = false;
    let timedOut = false;
    const stop = () => {
      isOver = true;
      child.kill('SIGKILL');
      child.stdout.destroy();
      child.stderr.destroy();
    };
    child.stdout.on('data', (chunk) => {
      if (!isOver && take(chunk) === false) stop();
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      complaint = (complaint + chunk).slice(-2000);
    });
    const timer = setTimeout(() => {
      timedOut = true;
      stop();
    }, ms);
    child.once('error', (error) => {
      clearTimeout(timer);
      fail(new ToolError(error.message));
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      done({ code, complaint, timedOut, isStopped: isOver });
    });
  });
}
