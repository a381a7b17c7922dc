// References of files to the environment: `os.environ/NAME` or `env://NAME` in the place of a value.

const REFERENCE = /^(?:os\.environ\/|env:\/\/)(.+)$/;

/** @returns the environment variable that a value refers to */
export const referenceIn = (value: unknown): string | undefined =>
  typeof value === "string" ? REFERENCE.exec(value.trim())?.[1] : undefined;

/** @returns what stands for the value of the variable in a file */
export const referenceTo = (variable: string): string => `os.environ/${variable}`;
