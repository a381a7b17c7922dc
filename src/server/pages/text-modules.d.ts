// Tells the compiler what `import … with { type: "text" }` yields for the style sheet.
// Embedding the text in the executable is left to the bundler.
declare module "*.css" {
  const text: string;
  export default text;
}
