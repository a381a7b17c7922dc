// Functions to run at the end of a process, which may run several test files; `afterAll` would run after one file.

const works = new Set<() => Promise<void>>();

/** Runs this after the last file, or after each. */
export const atEndOfFiles = (work: () => Promise<void>): void => void works.add(work);

/** Called by test/preload.ts. */
export async function endFiles(): Promise<void> {
  for (const work of works) await work();
}
