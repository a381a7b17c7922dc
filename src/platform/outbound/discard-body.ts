// Leaves the body of an answer unread.

/** Ends the transfer. A connection that broke before does not matter, because nobody reads from it. */
export async function discardBody({ body }: Pick<Response, "body">): Promise<void> {
  await body?.cancel().catch(() => {});
}
