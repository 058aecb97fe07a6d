import { ModuleMocker } from 'jest-mock';

/** The ordinary context of Node, instead of a context of its own for every test file; see runner.mjs. */
export default class NativeEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  async setup() {}
  async teardown() {}
  getVmContext() {
    return null;
  }
}
