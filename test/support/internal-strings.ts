import { hostname } from 'node:os'

const HOST = hostname().replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')

// Within JSON a line ends with an escape.
const INTERNAL = new RegExp(`node_modules|\\.ts:\\d+|(?:\\n|\\\\n) {4}at |stackTrace|(?<![\\w-])${HOST}(?![\\w-])`)

/** The start of the engine's unexpected messages. The log has them unchanged, because their contents are unknown. */
export const ENGINE_ERROR_TEXT = 'unknown: dial tcp'

/** What a text has of a stack, or of the machine it comes from: null when nothing. */
export function internalStringIn(text: string): string | null {
  return INTERNAL.exec(text)?.[0] ?? null
}
