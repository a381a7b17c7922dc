// Types of `import … with { type: "text" }` for the style sheet, the icon and the script. The bundler embeds the text in the executable.
declare module "*.css" {
  const text: string;
  export default text;
}
declare module "*.svg" {
  const text: string;
  export default text;
}
declare module "*.client.js" {
  const text: string;
  export default text;
}
