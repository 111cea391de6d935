import type { TraceEntry } from '../../shared/wire/trace/entry.ts'
import { isSpanId, maskEntry, maskUnlessRedacted } from '../../shared/wire/trace/mask-entry.ts'
import { type Redact, toRedacted, type ValueLimits } from '../tracing/redact.ts'

export interface Protection {
  redact: Redact
  /** The task queue whose own `redact` it is; null if this process has none. */
  redactedBy: string | null
  /** The task queue whose runs are archived. */
  catalog: string
  /** The catalog says that its workers redact values. */
  isCatalogRedacted: boolean
  limits: ValueLimits
}

/**
 * The entry as it may be stored. An entry that the catalog's own `redact` has not processed is redacted here or, if
 * this process does not have that function, masked.
 */
export function protectEntry(entry: TraceEntry, protection: Protection): TraceEntry {
  const { redact, redactedBy, catalog, isCatalogRedacted, limits } = protection
  if (redactedBy !== catalog) return isCatalogRedacted ? maskUnlessRedacted(entry, catalog) : entry
  if (entry.redacted === catalog) return entry
  // `redact` cannot read values that are encoded.
  if (entry.encoded?.length) return maskEntry(entry)
  const { kind, ...redacted } = toRedacted(entry, redact, limits)
  // Unlike the kinds of spans, the others come from a fixed list.
  return { ...redacted, kind: isSpanId(entry.id) ? kind : entry.kind, redacted: catalog }
}
