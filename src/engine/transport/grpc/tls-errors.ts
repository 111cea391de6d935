// Of OpenSSL's sentence, with its files and numbers, the words for people; else the part of a sentence that speaks of it.
const SAID = [
  /\bSSL routines:\w*:([^:().]+)/,
  /([^.:;()]*\s(?:certificate(?:'s)?|secure TLS connection|TLS handshake)(?=[\s,.:;]|$)[^.:;()]*)/,
]

/** On Bun and Deno; Node only warns (DEP0123). */
export const NAME_IS_ADDRESS = 'the server name must not be an IP address'

/** Why the TLS handshake with the engine failed, in a few words that hold no address; null when it was something else. */
export function handshakeFault(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { message } = at
    if (/\bserver ?name\b[^.]*\bIP address\b/i.test(message)) return NAME_IS_ADDRESS
    const said = SAID.map((pattern) => pattern.exec(` ${message}`)?.[1]).find((words) => words !== undefined)
    if (said !== undefined) return said.trim()
  }
  return null
}
