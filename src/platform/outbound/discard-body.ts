// Leaves the body of a response unread.

/** Ends the transfer. A broken connection does not matter, because nothing reads from it. */
export async function discardBody(response: Pick<Response, "body"> | undefined): Promise<void> {
  await response?.body?.cancel().catch(() => {});
}
