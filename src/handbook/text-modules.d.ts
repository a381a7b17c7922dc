// Tells the compiler what `import … with { type: "text" }` yields for a chapter.
// Embedding the text in the executable is left to the bundler.
declare module "*.md" {
  const text: string;
  export default text;
}
