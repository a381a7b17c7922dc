// The table of contents of the handbook: chapters in reading order, and the help topics that are sections of a chapter.
// The texts are in chapters.ts, which is loaded only when somebody reads.

export interface Chapter {
  /** word of `quartermaster help`, last part of the page's path, and name of the file; never the name of a command */
  readonly name: string;
  readonly title: string;
  /** one sentence for lists of chapters */
  readonly about: string;
}

export const CHAPTERS: readonly Chapter[] = [
  { name: "install", title: "Install", about: "Run the service under systemd." },
  { name: "gateway", title: "Inference gateway", about: "Give every user a key at an inference gateway." },
  { name: "policy-file", title: "Policy file", about: "What workstations must follow, member by member." },
  {
    name: "catalog-file",
    title: "Catalog file",
    about: "Packages that a policy may select, member by member.",
  },
  { name: "harness-file", title: "Harness file", about: "Admit newer coding agents without a new program." },
  { name: "settings", title: "Settings", about: "Every setting, its spellings and its default." },
  { name: "commands", title: "Commands", about: "Exit codes, files and output of the command line." },
  { name: "air-gap", title: "Air gap", about: "Move a catalog to a site without a network." },
  {
    name: "backups",
    title: "Backup and restore",
    about: "Make backups, restore them and replicate the database.",
  },
  {
    name: "personal-data",
    title: "Personal data",
    about: "How long data about people is kept, and how to erase one person.",
  },
];

export interface Section {
  /** name of the chapter */
  readonly chapter: string;
  /** text of the heading; the whole chapter without it */
  readonly heading?: string;
}

/** Other words of `quartermaster help`, and the part of the handbook that each one prints. */
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
