// Forces production mode, whatever the environment says. The entry imports it first, because libraries read NODE_ENV while they
// are loaded. `--define` replaces `process.env.NODE_ENV` in the text of the executable but does not reach Elysia, which reads
// `Bun.env` and otherwise writes whole request bodies into its errors.

Bun.env.NODE_ENV = "production";
