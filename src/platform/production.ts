// Production mode, whatever the environment says: imported first by the entry, because libraries read NODE_ENV while they are
// loaded. `--define` replaces `process.env.NODE_ENV` in the text of the executable and does not reach Elysia, which reads
// `Bun.env` and writes whole request bodies into its errors in any other mode.

Bun.env.NODE_ENV = "production";
