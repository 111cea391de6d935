/**
 * The format of stored traces (an object in a bucket, or a file) and of stored lists of entries: `docs/protocol.md`.
 */

import { isObject, MAX_JSON_DEPTH, parseLenientJson } from '../../lib/json.ts'
import { ERROR_VALUES, MAX_CAUSES, TRUNCATED, type TraceEntry, type TraceError } from './entry.ts'

export const TRACE_CONTENT_TYPE = 'application/json'

const VERSION = 1

/** The trace of one run. Child runs and the other runs of the chain have documents of their own. */
export interface TraceDocument {
  namespace: string
  workflowId: string
  runId: string
  entries: TraceEntry[]
}

export interface Parsed<T> {
  found: T
  /** How many entries were invalid. */
  skipped: number
}

/** The content of a stored trace. */
export function toTraceDocument({ namespace, workflowId, runId, entries }: TraceDocument): string {
  return JSON.stringify({ portico: 'trace', version: VERSION, namespace, workflowId, runId, entries })
}

/** Throws a `SyntaxError` that says why the JSON is not a stored trace. */
export function parseTraceDocument(json: string): Parsed<TraceDocument> {
  return readTraceDocument(parseLenientJson(json))
}

/** The same for parsed JSON. */
export function readTraceDocument(document: unknown): Parsed<TraceDocument> {
  if (!isObject(document) || document.portico !== 'trace') throw new SyntaxError('not a Portico trace')
  if (document.version !== VERSION) throw new SyntaxError(`unsupported version, expected ${VERSION}`)
  const { namespace, workflowId, runId, entries } = document
  if (!isShortString(namespace) || !isShortString(workflowId) || !isShortString(runId) || !Array.isArray(entries)) {
    throw new SyntaxError('namespace, workflowId, runId or entries is missing or invalid')
  }
  const { found, skipped } = toEntries(entries)
  return { found: { namespace, workflowId, runId, entries: found }, skipped }
}

// A stored trace adds two levels around an entry.
const ENTRY_LIMIT = { maxDepth: MAX_JSON_DEPTH - 2, replacement: TRUNCATED }

/** Parses a list of entries, each of them JSON. Values that are nested too deep are truncated. */
export function parseEntries(list: readonly string[]): Parsed<TraceEntry[]> {
  return toEntries(list.map(parsedOrNull))
}

function toEntries(values: readonly unknown[]): Parsed<TraceEntry[]> {
  const found = values.map(toEntry).filter((entry) => entry !== null)
  return { found, skipped: values.length - found.length }
}

function parsedOrNull(json: string): unknown {
  try {
    return parseLenientJson(json, ENTRY_LIMIT)
  } catch {
    return null // counted as skipped
  }
}

/** Maximum length of an id, a kind and a name, far longer than any that the engine or the worker kit creates. */
export const MAX_STRING_LENGTH = 4096

/** The entry without unknown keys; null if it is invalid. */
function toEntry(value: unknown): TraceEntry | null {
  if (!isObject(value)) return null
  const { id, parentId = null, kind, name, at, phase } = value
  if (
    !isShortString(id) ||
    id === '' ||
    !(parentId === null || isShortString(parentId)) ||
    !isShortString(kind) ||
    !isShortString(name)
  )
    return null
  if (!isInstant(at) || (phase !== 'began' && phase !== 'ended')) return null
  const encoded = Array.isArray(value.encoded) ? value.encoded.filter(isShortString) : null
  const error = toError(value.error, MAX_CAUSES, '/error', encoded ?? [])
  return {
    id,
    parentId,
    kind,
    name,
    at,
    phase,
    ...(value.input !== undefined && { input: value.input }),
    ...(value.output !== undefined && { output: value.output }),
    ...(error !== null && { error }),
    ...(isObject(value.attributes) && { attributes: value.attributes }),
    ...(encoded !== null && { encoded }),
    ...(isShortString(value.redacted) && { redacted: value.redacted }),
  }
}

/** Message and values may be encoded: then they are objects until they are decoded. */
function toError(value: unknown, left: number, pointer: string, encoded: readonly string[]): TraceError | null {
  if (!isObject(value) || left < 0) return null
  const { name, message } = value
  if (typeof name !== 'string') return null
  if (typeof message !== 'string' && !encoded.includes(`${pointer}/message`)) return null
  const values = ERROR_VALUES.filter((key) => Array.isArray(value[key]) || encoded.includes(`${pointer}/${key}`))
  const cause = toError(value.cause, left - 1, `${pointer}/cause`, encoded)
  return { name, message, ...Object.fromEntries(values.map((key) => [key, value[key]])), cause } as TraceError
}

function isShortString(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_STRING_LENGTH
}

// The latest time that a Date can represent.
const LAST_INSTANT = 8_640_000_000_000_000

/** Whether it is a time in epoch milliseconds that a Date can represent. */
export function isInstant(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LAST_INSTANT
}
