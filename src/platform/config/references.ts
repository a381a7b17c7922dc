// References from files to environment variables: a value of the form `os.environ/NAME` or `env://NAME`. In a policy,
// whose values may be numbers, `os.environ/NAME:number` reads the variable as a number.

const REFERENCE = /^(?:os\.environ\/|env:\/\/)(.+?)(:number)?$/;

/** @returns the environment variable that a value refers to */
export const referenceIn = (value: unknown): string | undefined => partsOf(value)?.[1];

/** @returns whether the reference reads the variable as a number */
export const refersToNumber = (value: unknown): boolean => partsOf(value)?.[2] !== undefined;

const partsOf = (value: unknown) =>
  typeof value === "string" ? (REFERENCE.exec(value.trim()) ?? undefined) : undefined;

/** @returns the reference to write into a file instead of the variable's value */
export const referenceTo = (variable: string): string => `os.environ/${variable}`;

/** @returns the same for a number */
export const numberReferenceTo = (variable: string): string => `${referenceTo(variable)}:number`;
