import { relative } from 'node:path';

const listed = 15;

/** Prints which test files took the most processor time, because the time of a file also depends on what else runs. */
export default class ProcessorTimes {
  times = [];

  constructor({ rootDir }) {
    this.root = rootDir;
  }

  onTestResult({ path }, { processorSeconds }) {
    if (processorSeconds !== undefined) this.times.push({ file: relative(this.root, path), ...processorSeconds });
  }

  onRunComplete() {
    if (this.times.length < 2) return;
    const most = this.times.toSorted((a, b) => b.own + b.programs - a.own - a.programs).slice(0, listed);
    const lines = most.map(({ file, own, programs }) => `  ${describe(own, programs)}  ${file}`);
    const sum = (part) => this.times.reduce((total, each) => total + each[part], 0);
    process.stderr.write(
      `\nProcessor seconds of tests + of programs they started (without PostgreSQL), most first:\n${lines.join('\n')}\n  ${describe(sum('own'), sum('programs'))}  all ${this.times.length} files\n`,
    );
  }
}

function describe(own, programs) {
  return `${own.toFixed(1).padStart(6)} + ${programs.toFixed(1).padStart(5)}`;
}
