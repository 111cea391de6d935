import { canonicalJson } from '../lib/canonical-json.ts'
import { sha256 } from '../lib/sha256.ts'
import type { CatalogDefinition, TraceTemplates } from './catalog.ts'

/**
 * Hex SHA-256 of the canonical JSON of `{definition, redacted, traces}`.
 * A worker publishes only if its catalog has another hash.
 */
export async function catalogHash(
  definition: CatalogDefinition,
  traces: TraceTemplates,
  redacted = false,
): Promise<string> {
  // Left out when false: workers in other languages do not know it.
  return sha256(canonicalJson({ definition, traces, ...(redacted && { redacted }) }))
}
