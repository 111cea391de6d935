import { canonicalJson } from '../../lib/canonical-json.ts'
import type { TraceEntry, TraceError } from './entry.ts'

export interface TraceNode {
  id: string
  kind: string
  name: string
  /** Epoch milliseconds. */
  startedAt: number
  /** Null while open. */
  endedAt: number | null
  input: unknown
  output: unknown
  error: TraceError | null
  attributes: Record<string, unknown>
  /** Sorted by `startedAt`. */
  children: TraceNode[]
}

// A node and its list are two levels of JSON, and JSON.stringify gives up at some 4000: spans nested deeper stand under the root.
const MAX_DEPTH = 1000

/**
 * The tree of what began and ended, from entries in any order and any number of copies; null when there is no root.
 *
 * What says nothing of its parent, names one that is not there, or would be its own ancestor stands under the root.
 */
export function toTraceTree(entries: Iterable<TraceEntry>): TraceNode | null {
  const spans = new Map<string, Span>()
  for (const [id, own] of Map.groupBy(entries, (entry) => entry.id)) spans.set(id, toSpan(own))
  const root = rootOf(spans)
  if (root === null) return null
  place(spans, root)
  for (const { node } of spans.values()) node.children.sort(byStart)
  return root.node
}

interface Span {
  parentId: string | null
  node: TraceNode
}

/** What all entries of one id say together. Where they differ the earliest wins, for attributes and the end the latest. */
function toSpan(entries: TraceEntry[]): Span {
  const texts = new Map<TraceEntry, string>()
  const sorted = entries.toSorted((a, b) => inOrder(a, b, texts)) as [TraceEntry, ...TraceEntry[]]
  const span = emptySpan(sorted[0])
  for (const entry of sorted) merge(span, entry)
  return span
}

function emptySpan({ id, parentId, kind, name, at }: TraceEntry): Span {
  return {
    parentId,
    node: {
      id,
      kind,
      name,
      startedAt: at,
      endedAt: null,
      input: null,
      output: null,
      error: null,
      attributes: {},
      children: [],
    },
  }
}

function merge(span: Span, { parentId, phase, at, input, output, error, attributes }: TraceEntry): void {
  const { node } = span
  span.parentId ??= parentId
  node.startedAt = Math.min(node.startedAt, at)
  if (phase === 'ended') node.endedAt = Math.max(node.endedAt ?? at, at)
  node.input ??= input ?? null
  node.output = output ?? node.output
  node.error = error ?? node.error
  // Not Object.assign, to which an own `__proto__` is no attribute; and not a new object each time, which costs a square.
  for (const [key, value] of Object.entries(attributes ?? {})) {
    Object.defineProperty(node.attributes, key, { value, writable: true, enumerable: true, configurable: true })
  }
}

/** The run itself: a worker's clock may put what lost its parent before it. */
function rootOf(spans: ReadonlyMap<string, Span>): Span | null {
  const parentless = [...spans.values()].filter(({ parentId }) => parentId === null)
  const workflows = parentless.filter(({ node }) => node.kind === 'workflow')
  const [root = null] = (workflows.length > 0 ? workflows : parentless).sort((a, b) => byStart(a.node, b.node))
  return root
}

/** Puts each node under its parent, in one climb towards the root for each that has no place yet. */
function place(spans: ReadonlyMap<string, Span>, root: Span): void {
  const above = ({ parentId }: Span) => spans.get(parentId ?? root.node.id) ?? root
  const depths = new Map([[root, 0]])
  for (const span of spans.values()) {
    const climb = new Set<Span>()
    let top = span
    while (!depths.has(top) && !climb.has(top)) {
      climb.add(top)
      top = above(top)
    }
    // A climb that meets itself has gone round a cycle, from `top` to its end.
    let inCycle = climb.has(top)
    for (const next of [...climb].reverse()) {
      const depth = inCycle ? MAX_DEPTH : (depths.get(above(next)) ?? 0)
      const parent = depth < MAX_DEPTH ? above(next) : root
      parent.node.children.push(next.node)
      depths.set(next, (depths.get(parent) ?? 0) + 1)
      if (next === top) inCycle = false
    }
  }
}

function byStart(a: TraceNode, b: TraceNode): number {
  return a.startedAt - b.startedAt || compare(a.id, b.id)
}

/** One order for all permutations: began before ended, then by time; only what is equal in both has its whole text compared. */
function inOrder(a: TraceEntry, b: TraceEntry, texts: Map<TraceEntry, string>): number {
  return compare(a.phase, b.phase) || a.at - b.at || compare(textOf(a, texts), textOf(b, texts))
}

/** Written once for each entry, however often it is compared. */
function textOf(entry: TraceEntry, texts: Map<TraceEntry, string>): string {
  const text = texts.get(entry) ?? canonicalJson(entry)
  texts.set(entry, text)
  return text
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
