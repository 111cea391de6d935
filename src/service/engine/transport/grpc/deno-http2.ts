/** Keeps Deno alive when the engine sends a GOAWAY: docs/decisions/021-deno-goaway-crash.md. */
import http2, { type ClientHttp2Session } from 'node:http2'

/**
 * Defers the destruction of every HTTP/2 session that this process opens from now on.
 *
 * Since 2.9.4 Deno frees the memory of a session at once, even while it reads a frame of that session, and crashes:
 * https://github.com/denoland/deno/issues/36788
 */
export function deferHttp2SessionDestroy(): void {
  const { connect } = http2
  // grpc-js reads `connect` from this object for each session.
  http2.connect = (...args: unknown[]) => deferDestroy(Reflect.apply(connect, http2, args))
}

function deferDestroy(session: ClientHttp2Session): ClientHttp2Session {
  const destroy = session.destroy.bind(session)
  session.destroy = (...args) => void setImmediate(() => destroy(...args))
  return session
}
