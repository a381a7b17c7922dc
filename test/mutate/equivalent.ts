// Changes that no test can notice, because the program does the same with them, each with the reason.
export interface Equivalent {
  file: string;
  /** of the mutation; all kinds when left out */
  kind?: string;
  /** what the changed range contains, white space aside */
  contains: string;
  because: string;
}

export const EQUIVALENT: readonly Equivalent[] = [];
