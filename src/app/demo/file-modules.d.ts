// The type of `import … with { type: "file" }` for an archive: a path, which is inside the executable after
// compilation.
declare module "*.tar.gz" {
  const path: string;
  export default path;
}
