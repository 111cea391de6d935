import type { TraceEntry } from '../../src/shared/wire/trace/entry.ts'
import type { TraceNode } from '../../src/shared/wire/trace/tree.ts'

/** The node and all below it. */
export function nodesIn(node: TraceNode): TraceNode[] {
  return [node, ...node.children.flatMap(nodesIn)]
}

/** The node of an entry that has only begun. */
export function toNode({ id, kind, name, at }: TraceEntry): TraceNode {
  return {
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
}

/** The entries that a node was made of. */
export function toEntries(node: TraceNode, root: TraceNode): TraceEntry[] {
  const parent = nodesIn(root).find(({ children }) => children.includes(node))
  const { id, kind, name, startedAt, endedAt, input, output, error, attributes } = node
  const what = { id, parentId: parent?.id ?? null, kind, name, attributes }
  const began: TraceEntry = { ...what, at: startedAt, phase: 'began', input }
  if (endedAt === null) return [began]
  return [began, { ...what, at: endedAt, phase: 'ended', output, ...(error !== null && { error }) }]
}

/** What a history tells as well: it knows nothing of what happens inside a step. */
export function withoutSpans(node: TraceNode): TraceNode {
  const children = node.children.filter(({ id }) => !id.includes(':span:')).map(withoutSpans)
  return { ...node, children }
}
