// Evaluates .gitignore files with isomorphic-git in a thread (see ignored.ts). It reads regular files only,
// because reading from a pipe might never end.
import fs from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import git from 'isomorphic-git';

const maxBytes = 1_000_000;

const onlyFiles = {
  promises: {
    ...fs.promises,
    readFile: async (path, options) => {
      const found = await fs.promises.lstat(path);
      if (!found.isFile() || found.size > maxBytes) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
      return fs.promises.readFile(path, options);
    },
  },
};

let turn = Promise.resolve();
parentPort.on('message', (filepath) => {
  turn = turn.then(async () => parentPort.postMessage(await git.isIgnored({ fs: onlyFiles, ...workerData, filepath })));
});
