// Ends a response that must not look finished: a stream that fails with this error resets the client's connection.

/** The runtime reports it to the listener, which does not count it as a failure of ours. */
export class ConnectionReset extends Error {
  constructor() {
    super("the response was ended before it was complete");
    this.name = "ConnectionReset";
  }
}
