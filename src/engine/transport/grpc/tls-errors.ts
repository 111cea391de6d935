// The reason in an OpenSSL error, which also has file names and numbers; or the part of a sentence that mentions the
// certificate.
const REASONS = [
  /\bSSL routines:\w*:([^:().]+)/,
  /([^.:;()]*\s(?:certificate(?:'s)?|secure TLS connection|TLS handshake)(?=[\s,.:;]|$)[^.:;()]*)/,
]

/** An error on Bun and Deno; Node only warns (DEP0123). */
export const NAME_IS_ADDRESS = 'the server name must not be an IP address'

/** Why the TLS handshake failed, in a few words without addresses; null for any other error. */
export function tlsFailureReason(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { message } = at
    if (/\bserver ?name\b[^.]*\bIP address\b/i.test(message)) return NAME_IS_ADDRESS
    const reason = REASONS.map((pattern) => pattern.exec(` ${message}`)?.[1]).find((match) => match !== undefined)
    if (reason !== undefined) return reason.trim()
  }
  return null
}
