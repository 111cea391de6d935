import { canonicalJson } from '../../lib/json.ts'
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

// A node and its list are two levels of JSON, and JSON.stringify overflows the stack at some 4000.
// Deeper spans are attached to the root.
const MAX_DEPTH = 1000

/**
 * Builds the tree from entries in any order, with any number of copies. Null if there is no root.
 *
 * A node is attached to the root if it names no parent, names one that does not exist, or would be its own ancestor.
 */
export function toTraceTree(entries: Iterable<TraceEntry>): TraceNode | null {
  const spans = new Map<string, Span>()
  for (const [id, own] of Map.groupBy(entries, (entry) => entry.id)) spans.set(id, toSpan(own))
  const root = rootOf(spans)
  if (root === null) return null
  attachNodes(spans, root)
  for (const { node } of spans.values()) node.children.sort(byStart)
  return root.node
}

interface Span {
  parentId: string | null
  node: TraceNode
}

/** Merges all entries of one id. If they differ, the earliest wins; for attributes and the end, the latest. */
function toSpan(entries: TraceEntry[]): Span {
  const cache = new Map<TraceEntry, string>()
  const sorted = entries.toSorted((a, b) => compareEntries(a, b, cache)) as [TraceEntry, ...TraceEntry[]]
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
  // Object.assign would not copy an own `__proto__`, and a new object for each entry would take quadratic time.
  for (const [key, value] of Object.entries(attributes ?? {})) {
    Object.defineProperty(node.attributes, key, { value, writable: true, enumerable: true, configurable: true })
  }
}

/** The node of the run itself. A span without its parent may have started earlier, by the clock of a worker. */
function rootOf(spans: ReadonlyMap<string, Span>): Span | null {
  const parentless = [...spans.values()].filter(({ parentId }) => parentId === null)
  const workflows = parentless.filter(({ node }) => node.kind === 'workflow')
  const [root = null] = (workflows.length > 0 ? workflows : parentless).sort((a, b) => byStart(a.node, b.node))
  return root
}

/** Attaches each node to its parent, or to the root where that would close a cycle or nest too deep. */
function attachNodes(spans: ReadonlyMap<string, Span>, root: Span): void {
  const parentOf = ({ parentId }: Span) => spans.get(parentId ?? root.node.id) ?? root
  const depths = new Map([[root, 0]])
  for (const span of spans.values()) {
    for (const { span: next, inCycle } of detachedAncestors(span, parentOf, depths)) {
      const depth = inCycle ? MAX_DEPTH : (depths.get(parentOf(next)) ?? 0)
      const parent = depth < MAX_DEPTH ? parentOf(next) : root
      parent.node.children.push(next.node)
      depths.set(next, (depths.get(parent) ?? 0) + 1)
    }
  }
}

/** The span and its ancestors that are not attached yet, the topmost first. */
function detachedAncestors(
  span: Span,
  parentOf: (span: Span) => Span,
  attached: ReadonlyMap<Span, unknown>,
): { span: Span; inCycle: boolean }[] {
  const path = new Set<Span>()
  let top = span
  while (!attached.has(top) && !path.has(top)) {
    path.add(top)
    top = parentOf(top)
  }
  const ancestors = [...path]
  // If the climb has reached a span of its own path, there is a cycle, which starts at that span.
  const cycleStart = path.has(top) ? ancestors.indexOf(top) : ancestors.length
  return ancestors.map((span, index) => ({ span, inCycle: index >= cycleStart })).reverse()
}

function byStart(a: TraceNode, b: TraceNode): number {
  return a.startedAt - b.startedAt || compare(a.id, b.id)
}

/** A total order, so that the order of the entries does not matter: began before ended, then by time, then by JSON. */
function compareEntries(a: TraceEntry, b: TraceEntry, cache: Map<TraceEntry, string>): number {
  return compare(a.phase, b.phase) || a.at - b.at || compare(toJson(a, cache), toJson(b, cache))
}

/** Built once for each entry, however often it is compared. */
function toJson(entry: TraceEntry, cache: Map<TraceEntry, string>): string {
  const json = cache.get(entry) ?? canonicalJson(entry)
  cache.set(entry, json)
  return json
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
