// Forces production mode and ignores NODE_ENV of the environment. The entry imports this file first, because libraries read
// NODE_ENV while they load. `--define` replaces `process.env.NODE_ENV` in the text of the executable but does not reach Elysia,
// which reads `Bun.env` and otherwise writes whole request bodies into its errors.

Bun.env.NODE_ENV = "production";
