// The paths and methods that the proxy forwards. A path matches exactly, after the runtime has normalized the URL; what is
// forwarded is the entry's own path, never the caller's text.

/**
 * The API that a path belongs to. It decides the form of errors and of the last event of a stream. `chat` also covers completions,
 * embeddings and models.
 */
export type Dialect = "chat" | "responses" | "messages";

export interface Entry {
  /** label for metrics and logs, such as `/v1/responses/{id}` */
  readonly route: string;
  /** what is appended to the URL of the upstream, such as `/v1/responses/resp_1` */
  readonly path: string;
  readonly dialect: Dialect;
}
