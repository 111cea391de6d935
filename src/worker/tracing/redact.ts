import { MAX_TEXT_LENGTH } from '../../protocol/trace/document.ts'
import type { TraceEntry, TraceError } from '../../protocol/trace/entry.ts'
import type { Warn } from './rate-limited-warnings.ts'
import { below, CUT, type Place, toPlain, toText } from './to-json-value.ts'

/**
 * Sees each value before it leaves the process, the outer ones first, and returns what is to leave instead; undefined leaves
 * it out. `path` is a JSON Pointer into the entry: `/name`, `/input/prompt`, `/attributes/headers/cookie`, `/error/message`.
 */
export type Redact = (path: string, value: unknown) => unknown

const REDACT_FAILED = '[redact failed]'

/** The user's `redact`, unable to keep a trace from being written: where it throws or returns a promise the value is replaced. */
export function guarded(redact: Redact, warn: Warn): Redact {
  return (path, value) => {
    try {
      const redacted = redact(path, value)
      if (!isThenable(redacted)) return redacted
      Promise.resolve(redacted).catch(() => {})
      throw new TypeError('redact returned a promise: it must be synchronous')
    } catch (error) {
      warn('The redact function failed; the values are left out of the trace', { path, error })
      return REDACT_FAILED
    }
  }
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

export interface Limits {
  /** Of each of input, output, error and attributes, as JSON. */
  maxBytes: number
  /** Levels of each of them. */
  maxDepth: number
}

/** The entry as it may leave the process: plain JSON, redacted and cut to the limits. */
export function toRedacted(entry: TraceEntry, redact: Redact, limits: Limits): TraceEntry {
  const { kind, name, input, output, attributes, error, ...rest } = entry
  const encoded: string[] = []
  const placeOf = (key: string, maxBytes = limits.maxBytes): Place => ({
    path: `/${key}`,
    visit: redact,
    depthLeft: limits.maxDepth,
    budget: { left: maxBytes },
    encoded,
  })
  const leaving = (key: string, value: unknown) => {
    const plain = toPlain(value, placeOf(key))
    return plain === undefined ? {} : { [key]: plain }
  }
  const redacted = {
    ...rest,
    kind: toText(kind, placeOf('kind', MAX_NAME_BYTES)),
    name: toText(name, placeOf('name', MAX_NAME_BYTES)),
    ...(input !== undefined && leaving('input', input)),
    ...(output !== undefined && leaving('output', output)),
    ...(attributes !== undefined && leaving('attributes', attributes)),
    ...(error !== undefined && { error: redactedError(error, placeOf('error')) }),
  }
  return encoded.length === 0 ? redacted : { ...redacted, encoded }
}

// With the mark less than readers take for a name.
const MAX_NAME_BYTES = MAX_TEXT_LENGTH - CUT.length

function redactedError({ name, message, cause }: TraceError, place: Place): TraceError {
  return {
    name: toText(name, below(place, 'name')),
    message: toText(message, below(place, 'message')),
    cause: cause === null ? null : redactedError(cause, below(place, 'cause')),
  }
}
