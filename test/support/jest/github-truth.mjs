import { existsSync, readdirSync } from 'node:fs';

/**
 * Holds what the tests sent to GitHub's stand-ins, and what these answered, against GitHub's own description (test/truth).
 * Prints how much was validated, and fails the run if something is wrong.
 */
export default class GitHubTruth {
  constructor(globalConfig) {
    this.config = globalConfig;
  }

  async onRunComplete() {
    const folder = process.env.GITHUB_RECORDS;
    if (folder === undefined || !hasRecords(folder)) return;
    const { reportOn } = await import('../../truth/report.ts');
    const started = performance.now();
    const report = reportOn(folder, isComplete(this.config));
    const { operations, requests, answers, fields, events, examples, variants, problems } = report;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stderr.write(
      `\nGitHub's description: ${operations} operations, ${requests} different requests, ${answers} answers with ${fields} fields, ${events} events of the emulator, ${examples} examples of events with ${variants} variants; validated in ${seconds} s.\n`,
    );
    if (problems.length > 0)
      this.error = new Error(
        `GitHub's description disagrees (test/truth):\n${problems.map((p) => `  ${p}\n`).join('')}`,
      );
  }

  getLastError() {
    if (this.error !== undefined) process.stderr.write(`\n${this.error.message}`);
    return this.error;
  }
}

/** The folder also has what was sent to model servers. */
function hasRecords(folder) {
  return existsSync(folder) && readdirSync(folder).some((file) => file.endsWith('.jsonl') || file === 'examples.json');
}

/** Returns whether all test files run, the long ones too. */
function isComplete({ testPathPatterns, testNamePattern, onlyChanged, onlyFailures, shard, findRelatedTests, bail }) {
  const isPart = onlyChanged || onlyFailures || findRelatedTests || shard !== undefined || Boolean(testNamePattern);
  return process.env.THOROUGH === '1' && !isPart && !bail && (testPathPatterns?.patterns ?? []).length === 0;
}
