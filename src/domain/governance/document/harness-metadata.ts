// The registry of harnesses as it is published (control-api.md section 7).

export const harnessMetadata = (): unknown => {
  throw new Error("follows");
};
