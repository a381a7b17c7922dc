// Patterns of keys that have their issuer's prefix. A search for them begins at a character that no word contains.

/**
 * Regular expression source for each kind of key. Lengths are bounded, and at most one match of each kind starts inside
 * a word, so a search takes linear time.
 */
export const KEY_FORMS = [
  { label: "AWS access key", form: "A(?:KI|SI)A[A-Z0-9]{16}" },
  { label: "GitHub token", form: "gh[oprsu]_[A-Za-z0-9]{36,251}|github_pat_\\w{22,251}" },
  { label: "GitLab token", form: "glpat-[\\w-]{20,100}" },
  { label: "Anthropic key", form: "sk-ant-[\\w-]{20,200}" },
  { label: "OpenAI or compatible key", form: "sk-(?!ant-)(?:proj-)?[\\w-]{20,200}" },
  { label: "Google API key", form: "AIza[\\w-]{35}" },
  { label: "Slack token", form: "xox[abeprs]-[\\w-]{10,200}" },
  { label: "Stripe key", form: "[rs]k_live_[A-Za-z0-9]{16,200}" },
  { label: "npm token", form: "npm_[A-Za-z0-9]{36}" },
  { label: "Hugging Face token", form: "hf_[A-Za-z0-9]{30,100}" },
  { label: "JSON web token", form: "(?<!-)eyJ[\\w-]{8,2000}\\.eyJ[\\w-]{8,2000}\\.[\\w-]{8,500}" },
  { label: "private key", form: "-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----" },
] as const;

/** @returns a regular expression with one group for each kind */
export const keyFormsIn = (flags: string): RegExp =>
  new RegExp(KEY_FORMS.map(({ form }) => `(?<!\\w)(${form})`).join("|"), flags);
