/** Traces as workers of the older generation store them, a tree of nodes, as entries: `docs/protocol.md`. */
import type { Description } from '../domain/execution.ts'
import { isObject } from '../lib/is-object.ts'
import { unwrapOutput } from '../protocol/older-wrapper.ts'
import { isInstant, MAX_TEXT_LENGTH, type Parsed } from '../protocol/trace/document.ts'
import { MAX_CAUSES, type TraceEntry, type TraceError } from '../protocol/trace/entry.ts'
import { stepId } from '../protocol/trace/keys.ts'

type OwnRun = Pick<Description, 'completedAt' | 'runId' | 'startedAt' | 'workflowId'>

interface Node {
  id: string
  kind: string
  name: string
  startedAt: number
  [key: string]: unknown
}

/** Whether the JSON of a stored trace is a tree of the older form. */
export function isOlderTree(document: unknown): document is Node {
  return isNode(document) && document.kind === 'workflow' && Array.isArray(document.children)
}

/** The tree's entries about the run; null when it is the trace of another run. */
export function entriesOfOlderTree(tree: Node, run: OwnRun): Parsed<TraceEntry[]> | null {
  const own = isByWorkflowId(tree, run) ? tree : nodeOfRun(tree, run.runId)
  if (own === null) return null
  const found: TraceEntry[] = []
  let spans = 0
  let skipped = 0

  function add(node: Node, id: string, parentId: string | null): void {
    found.push(...toEntries(node, id, parentId))
    const isRun = node.kind === 'workflow'
    for (const child of Array.isArray(node.children) ? node.children : []) {
      if (!isNode(child)) skipped++
      else if (child.kind === 'workflow') add(child, child.id, id)
      // Their own ids are unique only within the run of an activity: what is in one is counted.
      else add(child, isRun ? stepId(id, child.id) : `${run.runId}:span:${++spans}`, id)
    }
  }

  add(own, run.runId, null)
  return { found, skipped }
}

/** Before they named runs by their ids they named the root by its workflow id: then it is the run of that id that ran at the time. */
function isByWorkflowId({ id, startedAt }: Node, run: OwnRun): boolean {
  if (id !== run.workflowId || run.startedAt === null) return false
  const isBeforeEnd = run.completedAt === null || startedAt <= run.completedAt.getTime() + CLOCKS_APART_MS
  return startedAt >= run.startedAt.getTime() - CLOCKS_APART_MS && isBeforeEnd
}

// A worker's clock and the engine's may be this far apart.
const CLOCKS_APART_MS = 60_000

function nodeOfRun(node: Node, runId: string): Node | null {
  if (node.kind === 'workflow' && node.id === runId) return node
  for (const child of Array.isArray(node.children) ? node.children : []) {
    const found = isNode(child) ? nodeOfRun(child, runId) : null
    if (found !== null) return found
  }
  return null
}

function isNode(value: unknown): value is Node {
  if (!isObject(value)) return false
  const { id, kind, name, startedAt } = value
  // What has ended without ever having begun has neither kind nor name, and began at 0.
  return (
    isText(id) && isText(kind) && typeof name === 'string' && name.length <= MAX_TEXT_LENGTH && isInstant(startedAt)
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH
}

function toEntries(
  { kind, name, startedAt, endedAt, input, output, error, attributes }: Node,
  id: string,
  parentId: string | null,
) {
  const what = { id, parentId, kind, name }
  const began: TraceEntry = {
    ...what,
    at: startedAt,
    phase: 'began',
    ...(input !== undefined && { input }),
    ...(isObject(attributes) && { attributes }),
  }
  // A node that has not ended has a placeholder sentence as its output.
  if (!isInstant(endedAt)) return [began]
  const end = error == null ? { output: unwrapOutput(output ?? null) } : { error: toError(error, MAX_CAUSES) }
  return [began, { ...what, at: endedAt, phase: 'ended' as const, ...end }]
}

/** Without its stack. */
function toError(value: unknown, left: number): TraceError {
  const { name, message, cause } = isObject(value) ? value : { name: null, message: value, cause: null }
  return {
    name: typeof name === 'string' ? name : 'Error',
    message: typeof message === 'string' ? message : '',
    cause: isObject(cause) && left > 0 ? toError(cause, left - 1) : null,
  }
}
