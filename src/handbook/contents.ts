// The table of contents of the handbook: chapters in reading order, and the help topics that are sections of a chapter.
// chapters.ts has the texts and is loaded only when a chapter is read.

export interface Chapter {
  /** argument of `quartermaster help`, last part of the page's path, and name of the file; never the name of a command */
  readonly name: string;
  readonly title: string;
  /** one sentence for lists of chapters */
  readonly about: string;
}

export const CHAPTERS: readonly Chapter[] = [
  { name: "introduction", title: "What it is", about: "Who the product is for, and what it does." },
  {
    name: "first-hour",
    title: "First hour",
    about: "From the executable to a workstation that follows a policy.",
  },
  { name: "install", title: "Install", about: "systemd, container, TLS and reverse proxies." },
  {
    name: "workstations",
    title: "Connect a workstation",
    about: "What a workstation needs, and what it does.",
  },
  {
    name: "identity-provider",
    title: "Identity provider",
    about: "Sign-in, users and groups from Entra ID, Okta or Keycloak.",
  },
  {
    name: "login-sessions",
    title: "Sessions and logins",
    about: "What browsers and workstations hold, and what ends it.",
  },
  {
    name: "gateway",
    title: "Inference gateway",
    about: "A managed key for every user, and the provisioner protocol.",
  },
  {
    name: "inference",
    title: "Inference",
    about: "How agents reach models, and which ones they may use.",
  },
  {
    name: "captured-sessions",
    title: "Captured sessions",
    about: "How coding sessions are uploaded, shared and deleted.",
  },
  {
    name: "repositories",
    title: "Company repositories",
    about: "Packages from GitHub, GitLab, Gitea and Bitbucket.",
  },
  { name: "policy-file", title: "Policy file", about: "The rules for workstations, member by member." },
  {
    name: "catalog-file",
    title: "Catalog file",
    about: "Packages that a policy may select, member by member.",
  },
  { name: "harness-file", title: "Harness file", about: "Admit newer coding agents without a new program." },
  { name: "settings", title: "Settings", about: "Every setting, its spellings and its default." },
  { name: "commands", title: "Commands", about: "Exit codes, files and output of the command line." },
  { name: "air-gap", title: "Air gap", about: "Releases and catalogs for a site without a network." },
  { name: "backups", title: "Backup and restore", about: "Backups, upgrades, downgrades and replication." },
  {
    name: "standby",
    title: "A second machine",
    about: "A replica, and a machine that takes over.",
  },
  { name: "object-store", title: "Object store", about: "Captured sessions in an S3-compatible store." },
  { name: "console", title: "Console", about: "The service in a browser: who sees and changes what." },
  { name: "observe", title: "Observe", about: "Health, metrics, alerts, logs and the audit log." },
  { name: "tracing", title: "Traces", about: "Traces of requests to an OpenTelemetry collector." },
  {
    name: "audit-forwarding",
    title: "Send the audit log",
    about: "Every audit entry to a log collector, at least once.",
  },
  { name: "troubleshoot", title: "Troubleshoot", about: "Symptom, cause and command." },
  { name: "security", title: "Security model", about: "What is trusted, and what an attacker gets." },
  { name: "capacity", title: "Capacity", about: "Measured figures, and what to do beyond one machine." },
  { name: "glossary", title: "Glossary", about: "The words of this product." },
  {
    name: "contributing",
    title: "Architecture and contributing",
    about: "A map of the sources, and how to change them.",
  },
  {
    name: "personal-data",
    title: "Personal data",
    about: "How long data about people is kept, and how to erase it.",
  },
];

export interface Section {
  /** name of the chapter */
  readonly chapter: string;
  /** text of the heading; absent for the whole chapter */
  readonly heading?: string;
}

/** Other arguments of `quartermaster help`, and the part of the handbook that each one prints. */
export const TOPIC_SECTIONS: ReadonlyMap<string, Section> = new Map<string, Section>([
  ["environment", { chapter: "settings", heading: "Environment" }],
  ["exit-codes", { chapter: "commands", heading: "Exit codes" }],
  ["files", { chapter: "commands", heading: "Files" }],
  ["formatting", { chapter: "commands", heading: "Output" }],
  ["gateway-keys", { chapter: "gateway", heading: "States of a key" }],
  ["bundles", { chapter: "air-gap" }],
  ["harnesses", { chapter: "harness-file" }],
  ["erasure", { chapter: "personal-data", heading: "Erase a person" }],
  ["service", { chapter: "install", heading: "systemd" }],
]);

/** @returns the chapter of that name, or undefined */
export const findChapter = (name: string): Chapter | undefined =>
  CHAPTERS.find((chapter) => chapter.name === name);
