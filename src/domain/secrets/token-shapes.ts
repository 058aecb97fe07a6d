/**
 * Patterns of tokens, from the formats that their issuers publish. Each begins with a fixed prefix, so ordinary text
 * does not match. For why we maintain this list ourselves, see docs/decisions/0014-token-shapes.md.
 *
 * Every pattern must limit how far it searches for the end of a token. Otherwise text that begins a thousand tokens and
 * ends none would take minutes.
 */
export const tokenShapes: [string, RegExp][] = [
  // Since 2026 GitHub also issues installation tokens as `ghs_<app id>_<JWT>`.
  ['a GitHub token', /\bghs_\d{1,20}[._]eyJ[\w-]{10,200}\.[\w-]{20,}(?:\.[\w-]+)?/g],
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
  ['a Linear key', /\blin_api_[A-Za-z0-9]{40}\b/g],
  ['a Shopify token', /\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}\b/g],
  ['a Docker Hub token', /\bdckr_[op]at_[A-Za-z0-9_-]{27,}/g],
  ['a Groq key', /\bgsk_[A-Za-z0-9]{52}\b/g],
  ['a Grafana token', /\bglsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}\b/g],
  ['a Databricks token', /\bdapi[a-f0-9]{32}\b/g],
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/g],
];
