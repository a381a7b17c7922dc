// Tells the compiler what `import … with { type: "text" }` yields for the style sheet; the bundler embeds it.
declare module "*.css" {
  const text: string;
  export default text;
}
