/**
 * Holds what the tests sent to servers that stand in for models against the types of the client library (test/truth).
 * Prints how much was validated, and fails the run if something is wrong.
 */
export default class ModelTruth {
  async onRunComplete() {
    const folder = process.env.GITHUB_RECORDS;
    if (folder === undefined) return;
    const { modelReportOn } = await import('../../truth/model-records.ts');
    const started = performance.now();
    const { version, requests, fields, events, types, problems } = modelReportOn(folder);
    if (requests + events === 0) return;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stderr.write(
      `\nModel APIs (types of openai ${version}): ${requests} different requests with ${fields} fields, ${events} events of ${types} types in streams; validated in ${seconds} s.\n`,
    );
    if (problems.length > 0)
      this.error = new Error(
        `The types of openai ${version} disagree (test/truth):\n${problems.map((p) => `  ${p}\n`).join('')}`,
      );
  }

  getLastError() {
    if (this.error !== undefined) process.stderr.write(`\n${this.error.message}`);
    return this.error;
  }
}
