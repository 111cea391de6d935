/** A trace as it is stored: an object in a bucket, a file in a folder. And the entries that lists hold. */

import { parseJson } from '../../lib/exact-json.ts'
import { isObject } from '../../lib/is-object.ts'
import { MAX_CAUSES, type TraceEntry, type TraceError } from './entry.ts'

export const TRACE_CONTENT_TYPE = 'application/json'

const VERSION = 1

/** The trace of one run, and of no other: children and neighbours in the chain have documents of their own. */
export interface TraceDocument {
  namespace: string
  workflowId: string
  runId: string
  entries: TraceEntry[]
}

export interface Parsed<T> {
  found: T
  /** How many entries were none. */
  skipped: number
}

/** The text of a stored trace. */
export function toTraceDocument({ namespace, workflowId, runId, entries }: TraceDocument): string {
  return JSON.stringify({ portico: 'trace', version: VERSION, namespace, workflowId, runId, entries })
}

/** Throws a `SyntaxError` that says why the text is not a stored trace. */
export function parseTraceDocument(text: string): Parsed<TraceDocument> {
  return readTraceDocument(parseJson(text))
}

/** Throws a `SyntaxError` that says why the JSON is not a stored trace. */
export function readTraceDocument(document: unknown): Parsed<TraceDocument> {
  if (!isObject(document) || document.portico !== 'trace') throw new SyntaxError('it is not a trace of this protocol')
  if (document.version !== VERSION) throw new SyntaxError(`its version is not ${VERSION}`)
  const { namespace, workflowId, runId, entries } = document
  if (!isText(namespace) || !isText(workflowId) || !isText(runId) || !Array.isArray(entries)) {
    throw new SyntaxError('it lacks namespace, workflowId, runId or entries')
  }
  const { found, skipped } = parseEntries(entries)
  return { found: { namespace, workflowId, runId, entries: found }, skipped }
}

/** The entries of a list, one JSON text each. */
export function parseEntryTexts(texts: readonly string[]): Parsed<TraceEntry[]> {
  return parseEntries(texts.map(parsedOrNull))
}

function parseEntries(values: readonly unknown[]): Parsed<TraceEntry[]> {
  const found = values.map(toEntry).filter((entry) => entry !== null)
  return { found, skipped: values.length - found.length }
}

function parsedOrNull(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return null // counted as skipped
  }
}

/** Of an id, a kind and a name, in characters. None that the engine or the kit makes comes near. */
export const MAX_TEXT_LENGTH = 4096

/** The entry that a value is; null when it is none. Nothing unknown comes through. */
function toEntry(value: unknown): TraceEntry | null {
  if (!isObject(value)) return null
  const { id, parentId = null, kind, name, at, phase } = value
  if (!isText(id) || id === '' || !(parentId === null || isText(parentId)) || !isText(kind) || !isText(name))
    return null
  if (!isInstant(at) || (phase !== 'began' && phase !== 'ended')) return null
  const error = toError(value.error, MAX_CAUSES)
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
    ...(Array.isArray(value.encoded) && { encoded: value.encoded.filter(isText) }),
  }
}

function toError(value: unknown, left: number): TraceError | null {
  if (!isObject(value) || left < 0) return null
  const { name, message, cause } = value
  if (typeof name !== 'string' || typeof message !== 'string') return null
  return { name, message, cause: toError(cause, left - 1) }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT_LENGTH
}

// The last instant that a Date can hold.
const LAST_INSTANT = 8_640_000_000_000_000

/** A time that a Date can hold, in epoch milliseconds. */
export function isInstant(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LAST_INSTANT
}
