// Types of `import … with { type: "text" }` for the style sheet and the icon. The bundler embeds the text in the executable.
declare module "*.css" {
  const text: string;
  export default text;
}
declare module "*.svg" {
  const text: string;
  export default text;
}
