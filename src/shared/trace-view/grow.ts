/** A trace that grows with the entries that the history adds to it. */
import type { TraceEntry } from '../wire/trace/entry.ts'
import { type TraceNode, toTraceTree } from '../wire/trace/tree.ts'

/**
 * The trace with the entries, in any order and with any copies. Null if it must be read again: what child runs do is
 * not in the history of their parent.
 */
export function grow(root: TraceNode, entries: readonly TraceEntry[]): TraceNode | null {
  if (entries.some(({ kind }) => kind === 'child_workflow')) return null
  if (entries.length === 0) return root
  const ended = new Set(entries.filter(({ phase }) => phase === 'ended').map(({ id }) => id))
  return toTraceTree([...toEntries(root, null, ended), ...entries])
}

function* toEntries(node: TraceNode, parentId: string | null, ended: ReadonlySet<string>): Generator<TraceEntry> {
  const { id, kind, name, startedAt, endedAt, input, output, error } = node
  const attributes = ended.has(id) ? withoutAttempt(node.attributes) : node.attributes
  yield { id, parentId, kind, name, at: startedAt, phase: 'began', input, ...(error && { error }), attributes }
  if (endedAt !== null) yield { id, parentId, kind, name, at: endedAt, phase: 'ended', output }
  for (const child of node.children) yield* toEntries(child, id, ended)
}

/** The times of the attempt that was open: the entry for the end of a step has those of the last one. */
function withoutAttempt(attributes: TraceNode['attributes']): TraceNode['attributes'] {
  const { lastStartedAt: _started, lastEndedAt: _ended, nextAttemptAt: _next, ...rest } = attributes
  return rest
}
