import type { TraceEntry } from '../../shared/wire/trace/entry.ts'

/** An entry that marks the node of the given entry as truncated. */
export function truncatedEntry({ id, parentId, kind, name, at }: TraceEntry): TraceEntry {
  return { id, parentId, kind, name, at, phase: 'began', attributes: { truncated: true } }
}
