import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { putBackPushedFiles } from '../../../src/environment/change/pushed-files.ts';
import { forEachEngine } from '../../support/each-engine.ts';

forEachEngine((given) => {
  const prepare = async () => {
    const { checkout } = await given.open();
    writeFileSync(join(checkout.workTree, '.gitignore'), 'deps/\n');
    writeFileSync(join(checkout.workTree, 'src/.gitignore'), '*.out\n');
    const tree = await checkout.snapshot();
    const folder = mkdtempSync(join(given.host.root, 'clean-'));
    const work = join(folder, 'work');
    mkdirSync(work);
    await checkout.export(tree, work);
    const write = (files: Record<string, string>) => {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(join(work, path, '..'), { recursive: true });
        writeFileSync(join(work, path), text);
      }
    };
    const putBack = (signal = new AbortController().signal) =>
      putBackPushedFiles({ checkout, signal }, { tree, folder, work });
    const read = (path: string) => (existsSync(join(work, path)) ? readFileSync(join(work, path), 'utf8') : undefined);
    return { work, write, putBack, read };
  };

  test('keeps what git ignores of what set-up made, and puts the pushed files back', async () => {
    const { write, putBack, read } = await prepare();
    const pushed = read('src/slugify.js');
    write({ 'src/slugify.js': 'forged', 'src/new.js': 'new', 'deps/a/index.js': 'a', 'src/built.out': 'built' });
    await putBack();
    expect(['src/slugify.js', 'src/new.js', 'deps/a/index.js', 'src/built.out'].map(read)).toEqual([
      pushed,
      undefined,
      'a',
      'built',
    ]);
  });

  test('set-up cannot declare files ignored beside the pushed ones', async () => {
    const { work, write, putBack, read } = await prepare();
    write({ '.gitignore': '*\n', 'src/.gitignore': '*\n', 'test/.gitignore/x': '', 'src/slugify': 'forged', top: 'x' });
    await putBack();
    expect(['.gitignore', 'src/.gitignore', 'src/slugify', 'top'].map(read)).toEqual([
      'deps/\n',
      '*.out\n',
      undefined,
      undefined,
    ]);
    expect(existsSync(join(work, 'test/.gitignore'))).toBe(false);
  });

  test('a folder that set-up made can ignore itself, as virtual environments of Python do', async () => {
    const { write, putBack, read } = await prepare();
    write({ '.venv/.gitignore': '*\n', '.venv/bin/python': 'python' });
    await putBack();
    expect(read('.venv/bin/python')).toBe('python');
  });

  test('writes nothing through a link that set-up left', async () => {
    const { work, write, putBack, read } = await prepare();
    const outside = mkdtempSync(join(given.host.root, 'outside-'));
    writeFileSync(join(outside, '.gitignore'), 'of others\n');
    rmSync(join(work, 'src'), { recursive: true });
    symlinkSync(outside, join(work, 'src'));
    rmSync(join(work, '.gitignore'));
    symlinkSync(join(outside, '.gitignore'), join(work, '.gitignore'));
    write({ 'deps/a': 'a' });
    await putBack();
    expect(readFileSync(join(outside, '.gitignore'), 'utf8')).toBe('of others\n');
    expect(['.gitignore', 'src/.gitignore', 'deps/a'].map(read)).toEqual(['deps/\n', '*.out\n', 'a']);
  });

  test('ends with the signal', async () => {
    const { putBack } = await prepare();
    await expect(putBack(AbortSignal.abort(new Error('cancelled')))).rejects.toThrow();
  });
});
