import { endsAfterTour } from '../../demo/options.ts';

test('the demo takes one option, and lists it when it gets another one', () => {
  expect([endsAfterTour([]), endsAfterTour(['--once'])]).toEqual([false, true]);
  for (const args of [['--twice'], ['once'], ['--once', '--help']])
    expect(() => endsAfterTour(args)).toThrow(
      /^The demo has no option (--twice|once|--help)\.\n\nnpm run demo .*\n.*--once {3}ends after the tour$/,
    );
});
