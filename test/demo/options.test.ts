import { endsAfterTour } from '../../demo/options.ts';
import { sandboxLack } from '../../demo/terminal.ts';

test('the demo takes one option, and lists it when it gets another one', () => {
  expect([endsAfterTour([]), endsAfterTour(['--once'])]).toEqual([false, true]);
  for (const args of [['--twice'], ['once'], ['--once', '--help']])
    expect(() => endsAfterTour(args)).toThrow(
      /^The demo has no option (--twice|once|--help)\.\n\nnpm run demo .*\n.*--once {3}ends after the tour$/,
    );
});

test('the demo says what is missing without a sandbox', () => {
  const log =
    '{"level":30,"msg":"sandbox: bubblewrap is not installed (apt-get install bubblewrap): agents have no run_command"}';
  expect(sandboxLack(log)).toMatch(
    /^There is no sandbox: bubblewrap is not installed \(apt-get install bubblewrap\)\. .* nothing is checked or proved\.$/,
  );
  expect(sandboxLack('{"level":30,"msg":"sandbox: bubblewrap 0.8.0: works; with cgroups"}')).toBeUndefined();
});
