// Tells the compiler what `import … with { type: "file" }` yields for an archive: a path, which in the executable is inside it.
declare module "*.tar.gz" {
  const path: string;
  export default path;
}
