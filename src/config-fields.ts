import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { hostPatternProblem } from './egress/host-names.ts';
import { isAddressRange } from './host/closed-address.ts';

// Parsers for the values of settings. Each message completes a sentence that begins with the setting's name.

export const whole = (min: number, max: number, preset: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`)
    .default(preset);

export const positive = z
  .string()
  .transform(Number)
  .refine((n) => Number.isFinite(n) && n > 0, 'must be a positive number');

/** The maximum is what a Node timer can hold; a longer timer would fire immediately. */
export const minutes = positive.refine((n) => n <= 20_000, 'must be at most 20000');

/** How long something is kept; 0 keeps it forever. */
export const days = (preset: number) => whole(0, 36_500, preset);

/** How long something is waited for, in days and parts of days; 0 waits forever. */
export const waitDays = z
  .string()
  .transform(Number)
  .refine((n) => n >= 0 && n <= 36_500, 'must be a number from 0 to 36500');

export const httpUrl = z
  .string()
  .refine((s) => URL.canParse(s) && /^https?:$/.test(new URL(s).protocol), 'must be an http or https address')
  .transform((s) => s.replace(/\/+$/, ''));

export const flag = z
  .enum(['true', 'false', '1', '0'], 'must be true or false')
  .transform((s) => s === 'true' || s === '1')
  .default(false);

const list = z.string().transform((s) => s.split(',').map((part) => part.trim()));

export const origins = list.pipe(z.array(httpUrl.transform((s) => new URL(s).origin))).default([]);

/** Host names, comma-separated. */
export const hostNames = list
  .transform((names) => names.map((name) => name.toLowerCase()))
  .refine(
    (names) => names.every((name) => hostPatternProblem(name) === undefined),
    'must be host names such as registry.example.org or *.example.org, separated by commas, without protocol or port',
  )
  .default([]);

/** Ranges of addresses, comma-separated. */
export const addressRanges = list
  .refine(
    (ranges) => ranges.every(isAddressRange),
    'must be ranges of addresses such as 10.20.0.0/16, separated by commas',
  )
  .default([]);

/** A registry and perhaps a folder in it, as images are named: `registry.example.org/team`. */
export const imageRegistry = z
  .string()
  .regex(
    /^(?:[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d{1,5})?|[A-Za-z0-9-]+:\d{1,5}|localhost)(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/,
    'must be a registry such as registry.example.org, with a port and a folder if it needs them',
  );

/** An encryption key: 32 bytes, as 64 hex digits or as base64. */
export const encryptionKey = z
  .string()
  .transform((s) => (/^[0-9a-f]{64}$/i.test(s) ? Buffer.from(s, 'hex') : Buffer.from(s, 'base64')))
  .refine((key) => key.length === 32, 'must be 32 bytes, written as 64 hex digits or as base64');

export const privateKey = z
  .string()
  .transform((s) => s.replaceAll('\\n', '\n').trim())
  .refine(isPrivateKey, 'must be a PEM private key (the .pem file that GitHub gave for the App)');

const price = z.number().min(0);

export const priceTable = z
  .string()
  .transform((s, ctx) => {
    try {
      return JSON.parse(s) as unknown;
    } catch {
      ctx.addIssue('must be JSON like {"model":{"input":1.25,"output":10}}');
      return z.NEVER;
    }
  })
  .pipe(
    z.record(
      z.string(),
      z.object({ input: price, cachedInput: price.optional(), cacheWrite: price.optional(), output: price }),
    ),
  )
  .default({});

/** Secrets that an attacker would try first to forge a delivery; `development` is Probot's default. */
const guessable = new Set(['development', 'secret', 'changeme', 'change-me', 'password']);

export const webhookSecret = z
  .string()
  .refine((s) => !guessable.has(s.toLowerCase()), 'is a well-known default; make a random one (openssl rand -hex 32)');

export const databaseUrl = z
  .string()
  .refine(
    (s) => /^postgres(ql)?:\/\//.test(s) && URL.canParse(s) && isDecodable(s),
    'must be a postgres:// address with special characters percent-encoded',
  );

export function isPrivateKey(pem: string): boolean {
  try {
    createPrivateKey(pem);
    return true;
  } catch {
    return false;
  }
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
