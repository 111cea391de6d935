/** Converts traces that workers of the older generation have stored, which are trees of nodes: `docs/protocol.md`. */

import { isObject } from '../../shared/lib/json.ts'
import { unwrapOutput } from '../../shared/temporal/outcome.ts'
import { isInstant, MAX_STRING_LENGTH, type Parsed } from '../../shared/wire/trace/document.ts'
import { MAX_CAUSES, type TraceEntry, type TraceError } from '../../shared/wire/trace/entry.ts'
import { stepId } from '../../shared/wire/trace/keys.ts'
import type { Description } from '../model/execution.ts'

type OwnRun = Pick<Description, 'completedAt' | 'runId' | 'startedAt' | 'workflowId'>

/** A node of the tree, with everything below it. */
export interface OlderTree {
  id: string
  kind: string
  name: string
  startedAt: number
  [key: string]: unknown
}

/** Whether a stored trace is in the older format. */
export function isOlderTree(document: unknown): document is OlderTree {
  return isNode(document) && document.kind === 'workflow' && Array.isArray(document.children)
}

/** The tree's entries about the run; null if it is the trace of another run. */
export function entriesOfOlderTree(tree: OlderTree, run: OwnRun): Parsed<TraceEntry[]> | null {
  const root = isNamedByWorkflowId(tree, run) ? tree : findRun(tree, run.runId)
  if (root === null) return null
  const conversion: Conversion = { runId: run.runId, entries: [], spans: 0, skipped: 0 }
  addNode(conversion, root, run.runId, null)
  return { found: conversion.entries, skipped: conversion.skipped }
}

interface Conversion {
  runId: string
  entries: TraceEntry[]
  /** How many spans are numbered so far. */
  spans: number
  /** How many nodes were invalid. */
  skipped: number
}

function addNode(conversion: Conversion, node: OlderTree, id: string, parentId: string | null): void {
  conversion.entries.push(...toEntries(node, id, parentId))
  for (const child of childrenOf(node)) {
    if (isNode(child)) addNode(conversion, child, idOf(child, node, id, conversion), id)
    else conversion.skipped++
  }
}

function idOf(child: OlderTree, parent: OlderTree, parentId: string, conversion: Conversion): string {
  if (child.kind === 'workflow') return child.id
  if (parent.kind === 'workflow') return stepId(parentId, child.id)
  // The ids of spans are unique only within one run of an activity.
  return `${conversion.runId}:span:${++conversion.spans}`
}

/** Whether the root has the workflow id, as the oldest workers wrote it, and began when this run was open. */
export function isNamedByWorkflowId({ id, startedAt }: OlderTree, run: OwnRun): boolean {
  if (id !== run.workflowId || run.startedAt === null) return false
  const isBeforeEnd = run.completedAt === null || startedAt <= run.completedAt.getTime() + CLOCK_SKEW_MS
  return startedAt >= run.startedAt.getTime() - CLOCK_SKEW_MS && isBeforeEnd
}

// How far the clocks of a worker and of the engine may differ.
const CLOCK_SKEW_MS = 60_000

function findRun(node: OlderTree, runId: string): OlderTree | null {
  if (node.kind === 'workflow' && node.id === runId) return node
  for (const child of childrenOf(node)) {
    const found = isNode(child) ? findRun(child, runId) : null
    if (found !== null) return found
  }
  return null
}

function childrenOf({ children }: OlderTree): unknown[] {
  return Array.isArray(children) ? children : []
}

function isNode(value: unknown): value is OlderTree {
  if (!isObject(value)) return false
  const { id, kind, name, startedAt } = value
  // A node whose start is unknown has neither kind nor name, and starts at 0.
  return (
    isShortString(id) &&
    isShortString(kind) &&
    typeof name === 'string' &&
    name.length <= MAX_STRING_LENGTH &&
    isInstant(startedAt)
  )
}

function isShortString(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_STRING_LENGTH
}

function toEntries(
  { kind, name, startedAt, endedAt, input, output, error, attributes }: OlderTree,
  id: string,
  parentId: string | null,
) {
  const common = { id, parentId, kind, name }
  const began: TraceEntry = {
    ...common,
    at: startedAt,
    phase: 'began',
    ...(input !== undefined && { input }),
    ...(isObject(attributes) && { attributes }),
  }
  // The output of an open node is only a placeholder.
  if (!isInstant(endedAt)) return [began]
  const end = error == null ? { output: unwrapOutput(output ?? null) } : endedBy(error)
  return [began, { ...common, at: endedAt, phase: 'ended' as const, ...end }]
}

/** Without its stack. A thrown value that is not an error, like an HTTP response, is kept as the attribute `error`. */
function endedBy(value: unknown): Pick<TraceEntry, 'attributes' | 'error'> {
  const error = toError(value, MAX_CAUSES)
  if (!isObject(value) || typeof value.message === 'string') return { error }
  const { stack: _, ...rest } = value
  return { error, attributes: { error: rest } }
}

function toError(value: unknown, left: number): TraceError {
  const { name, message, cause } = isObject(value) ? value : { name: null, message: value, cause: null }
  return {
    name: typeof name === 'string' ? name : 'Error',
    message: typeof message === 'string' ? message : isObject(value) ? statusLineOf(value) : '',
    cause: isObject(cause) && left > 0 ? toError(cause, left - 1) : null,
  }
}

/** The status code and text of an HTTP response; empty for any other value. */
function statusLineOf({ status, statusText }: Record<string, unknown>): string {
  return [status, statusText]
    .filter((part) => typeof part === 'number' || typeof part === 'string')
    .join(' ')
    .trim()
}
