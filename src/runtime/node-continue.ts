/** `Expect: 100-continue`: the client sends its body only when it is told to, so that a refusal can come instead. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Says `100 Continue` when the body is first read: never for a request that is refused for its head (401, 413). */
export function continueOnRead(request: IncomingMessage, response: ServerResponse): void {
  request._read = (size) => {
    dontContinue(request)
    response.writeContinue()
    request._read(size)
  }
}

/** From now on the body is read without a word: the answer is known. */
export function dontContinue(request: object): void {
  // The own property alone: below it is Node's.
  Reflect.deleteProperty(request, '_read')
}
