import type { TraceEntry, TraceError } from './trace-entry.ts'

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

/**
 * The tree of what began and ended, from entries in any order and any number of copies; null when there is no root.
 *
 * What says nothing of its parent, or of one that is not there, stands under the root.
 */
export function toTraceTree(entries: Iterable<TraceEntry>): TraceNode | null {
  const spans = toSpans(entries)
  const root = [...spans.values()].find((span) => span.parentId === null)
  if (root === undefined) return null
  for (const span of spans.values()) {
    if (span !== root) parentOf(span, spans, root).node.children.push(span.node)
  }
  for (const { node } of spans.values()) node.children.sort((a, b) => a.startedAt - b.startedAt || compare(a.id, b.id))
  return root.node
}

interface Span {
  parentId: string | null
  node: TraceNode
}

function toSpans(entries: Iterable<TraceEntry>): Map<string, Span> {
  const spans = new Map<string, Span>()
  for (const entry of entries) {
    const span = spans.get(entry.id)
    if (span === undefined) spans.set(entry.id, toSpan(entry))
    else merge(span.node, entry)
  }
  return spans
}

function toSpan(entry: TraceEntry): Span {
  const { id, parentId, kind, name, at } = entry
  const node: TraceNode = {
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
  }
  merge(node, entry)
  return { parentId, node }
}

function merge(node: TraceNode, { phase, at, input, output, error, attributes }: TraceEntry): void {
  node.startedAt = Math.min(node.startedAt, at)
  if (phase === 'ended') node.endedAt = Math.max(node.endedAt ?? at, at)
  node.input ??= input ?? null
  node.output ??= output ?? null
  node.error ??= error ?? null
  Object.assign(node.attributes, attributes)
}

/** The nearest parent that does not lead back to the span itself. */
function parentOf(span: Span, spans: ReadonlyMap<string, Span>, root: Span): Span {
  const parent = span.parentId === null ? root : (spans.get(span.parentId) ?? root)
  const seen = new Set([span])
  for (let above: Span | undefined = parent; above !== undefined && above !== root; above = spans.get(above.parentId ?? '')) {
    if (seen.has(above)) return root
    seen.add(above)
  }
  return parent
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
