/** `Expect: 100-continue`: the client waits for `100 Continue` before it sends its body, so a refusal can come instead. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Says `100 Continue` when the body is first read: never for a request that is refused for its head (401, 413). */
export function continueOnRead(request: IncomingMessage, response: ServerResponse): void {
  request._read = (size) => {
    dontContinue(request)
    response.writeContinue()
    request._read(size)
  }
}

/** From now on the body is read without a `100 Continue`, as the answer is known. */
export function dontContinue(request: object): void {
  // Only our own property: Node's method on the prototype shows again.
  Reflect.deleteProperty(request, '_read')
}
