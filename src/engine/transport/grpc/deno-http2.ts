/** Keeps Deno alive when the engine sends a GOAWAY: docs/decisions/021-deno-goaway-crash.md. */
import http2, { type ClientHttp2Session } from 'node:http2'

/**
 * Makes every HTTP/2 session that this process opens from now on free its memory later than the event that destroys it.
 *
 * Since 2.9.4 Deno frees it at once, though it may be in the middle of reading a frame from that session. It then crashes:
 * https://github.com/denoland/deno/issues/36788
 */
export function deferHttp2SessionDestroy(): void {
  const { connect } = http2
  // grpc-js looks `connect` up in this object at each call.
  http2.connect = (...args: unknown[]) => deferDestroy(Reflect.apply(connect, http2, args))
}

function deferDestroy(session: ClientHttp2Session): ClientHttp2Session {
  const destroy = session.destroy.bind(session)
  session.destroy = (...args) => void setImmediate(() => destroy(...args))
  return session
}
