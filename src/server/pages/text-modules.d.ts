// Types of `import … with { type: "text" }` for the style sheet. The bundler embeds the text in the executable.
declare module "*.css" {
  const text: string;
  export default text;
}
