/**
 * `Expect: 100-continue`: the client sends its body only after `100 Continue`,
 * so the server can reject the request before that.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Sends `100 Continue` when the body is read for the first time.
 * A request that is rejected for its headers (401, 413) never gets it.
 */
export function continueOnRead(request: IncomingMessage, response: ServerResponse): void {
  request._read = (size) => {
    cancelContinue(request)
    response.writeContinue()
    request._read(size)
  }
}

/** Called when the response is known: reading the rest of the body no longer sends `100 Continue`. */
export function cancelContinue(request: object): void {
  // Removes our override, so that `_read` is Node's method again.
  if (Object.hasOwn(request, '_read')) Reflect.deleteProperty(request, '_read')
}
