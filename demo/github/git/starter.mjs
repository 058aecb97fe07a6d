// Runs commands for small-process.ts, until its parent disconnects.
import { execFile } from 'node:child_process';
import { createReadStream, writeFileSync } from 'node:fs';

process.on('message', ({ id, file, args, options, input, inputFile, outputFile, longest }) => {
  const command = execFile(file, args, { ...options, encoding: 'buffer', maxBuffer: 2 ** 30 }, (error, stdout) => {
    const isLong = stdout.length > longest;
    if (isLong) writeFileSync(outputFile, stdout);
    process.send({ id, ...(isLong ? { outputFile } : { stdout }), problem: error?.message });
  });
  // A command may end without reading its input.
  command.stdin.on('error', () => {});
  if (inputFile === undefined) command.stdin.end(input);
  else createReadStream(inputFile).pipe(command.stdin);
});
process.once('disconnect', () => process.exit());
