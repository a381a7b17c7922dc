// References from files to environment variables: a value of the form `os.environ/NAME` or `env://NAME`.

const REFERENCE = /^(?:os\.environ\/|env:\/\/)(.+)$/;

/** @returns the environment variable that a value refers to */
export const referenceIn = (value: unknown): string | undefined =>
  typeof value === "string" ? REFERENCE.exec(value.trim())?.[1] : undefined;

/** @returns the reference to write into a file instead of the variable's value */
export const referenceTo = (variable: string): string => `os.environ/${variable}`;
