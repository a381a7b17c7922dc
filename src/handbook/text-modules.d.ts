// Declares the type of `import … with { type: "text" }` for a chapter. The bundler embeds the text in the executable.
declare module "*.md" {
  const text: string;
  export default text;
}
