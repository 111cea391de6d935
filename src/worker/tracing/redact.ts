import { MAX_STRING_LENGTH } from '../../shared/wire/trace/document.ts'
import { mapErrorValues, TRUNCATED, type TraceEntry, type TraceError } from '../../shared/wire/trace/entry.ts'
import type { Warn } from './rate-limited-warnings.ts'
import { atKey, toJsonString, toJsonValue, type ValueContext } from './to-json-value.ts'

/**
 * Called for every value of a trace before it leaves the process, containers before their members. Returns the value to
 * store instead; undefined removes it. `path` is a JSON Pointer into the entry: `/name`, `/input/prompt`,
 * `/attributes/headers/cookie`, `/error/message`, `/error/details/0`.
 */
export type Redact = (path: string, value: unknown) => unknown

export const unredacted: Redact = (_path, value) => value

const REDACT_FAILED = '[redact failed]'

/** Wraps the user's `redact`: if it throws or returns a promise, the value is replaced and a warning is logged. */
export function safeRedact(redact: Redact, warn: Warn): Redact {
  return (path, value) => {
    try {
      const redacted = redact(path, value)
      if (!isThenable(redacted)) return redacted
      Promise.resolve(redacted).catch(() => {})
      throw new TypeError('redact must be synchronous, but returned a promise')
    } catch (error) {
      warn('The redact function failed; the trace has [redact failed] instead of the value', { path, error })
      return REDACT_FAILED
    }
  }
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

export interface ValueLimits {
  /** Maximum size of each of input, output, error and attributes, as JSON. */
  maxBytes: number
  /** Maximum nesting of each of them. */
  maxDepth: number
}

/** The entry as it leaves the process: plain JSON, redacted and truncated to the limits. */
export function toRedacted(entry: TraceEntry, redact: Redact, limits: ValueLimits): TraceEntry {
  const { kind, name, input, output, attributes, error, ...rest } = entry
  const encoded: string[] = []
  const contextOf = (key: string, maxBytes = limits.maxBytes): ValueContext => ({
    path: `/${key}`,
    redact,
    depthLeft: limits.maxDepth,
    budget: { left: maxBytes },
    encoded,
  })
  const member = (key: string, value: unknown) => {
    const json = toJsonValue(value, contextOf(key))
    return json === undefined ? {} : { [key]: json }
  }
  const redacted = {
    ...rest,
    kind: toJsonString(kind, contextOf('kind', MAX_NAME_BYTES)),
    name: toJsonString(name, contextOf('name', MAX_NAME_BYTES)),
    ...(input !== undefined && member('input', input)),
    ...(output !== undefined && member('output', output)),
    ...(attributes !== undefined && member('attributes', attributes)),
    ...(error !== undefined && { error: redactedError(error, contextOf('error')) }),
  }
  return encoded.length === 0 ? redacted : { ...redacted, encoded }
}

// Readers reject longer names.
const MAX_NAME_BYTES = MAX_STRING_LENGTH - TRUNCATED.length

function redactedError({ name, message, cause, ...values }: TraceError, context: ValueContext): TraceError {
  return {
    name: toJsonString(name, atKey(context, 'name')),
    message: toJsonString(message, atKey(context, 'message')),
    ...mapErrorValues(values, (value, key) => {
      const shown = toJsonValue(value, atKey(context, key))
      return shown === undefined || Array.isArray(shown) ? shown : [shown]
    }),
    cause: cause === null ? null : redactedError(cause, atKey(context, 'cause')),
  }
}
