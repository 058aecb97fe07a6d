import type { App } from '../../app.ts';
import type { Work } from '../work.ts';

/** Reads what people said of our earlier comments. */
export async function readFeedback(_app: App, _work: Work): Promise<void> {}
