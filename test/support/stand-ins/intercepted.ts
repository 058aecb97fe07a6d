import nock from 'nock';

/** Call it once in a test file that answers requests to GitHub with nock. Requests to this machine get through. */
export function interceptRequests(): void {
  beforeAll(() => {
    // Files share the modules of their process, so an earlier one may have switched it off.
    if (!nock.isActive()) nock.activate();
    nock.disableNetConnect();
    nock.enableNetConnect('127.0.0.1');
  });
  afterEach(() => nock.cleanAll());
  afterAll(() => {
    nock.enableNetConnect();
    nock.restore();
  });
}
