import { parse } from './parse.ts';

// Parses each text that the page sends, and answers with its tree.
self.onmessage = ({ data }: MessageEvent<string>) => self.postMessage(parse(data));
self.postMessage('ready');
