/** Well-known shapes of tokens. Issuers choose such prefixes so that scanners can find their tokens. */
export const tokenShapes: [string, RegExp][] = [
  ['a GitHub token', /\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})/g],
  ['an OpenAI key', /\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{32,}/g],
  ['an AWS access key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g],
  ['a Slack token', /\b(?:xox[abprs]|xapp)-[A-Za-z0-9-]{20,}|hooks\.slack\.com\/services\/T\w+\/B\w+\/\w+/g],
  ['a GitLab token', /\bglpat-[A-Za-z0-9_-]{20,}/g],
  ['a Google API key', /\bAIza[A-Za-z0-9_-]{35}\b/g],
  ['an npm token', /\bnpm_[A-Za-z0-9]{36}\b/g],
  ['a PyPI token', /\bpypi-[A-Za-z0-9_-]{50,}/g],
  ['a Stripe key', /\b[rs]k_live_[A-Za-z0-9]{20,}/g],
  ['a Hugging Face token', /\bhf_[A-Za-z0-9]{30,}/g],
  ['a SendGrid key', /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g],
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/g],
];
