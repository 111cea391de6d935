import { canonicalJson } from '../lib/canonical-json.ts'
import { sha256 } from '../lib/sha256.ts'
import type { CatalogDefinition, TraceTemplates } from './catalog.ts'

/** What a worker compares with its own before it publishes: hex SHA-256 of the canonical JSON of `{definition, redacted, traces}`. */
export async function catalogHash(
  definition: CatalogDefinition,
  traces: TraceTemplates,
  redacted = false,
): Promise<string> {
  // Absent where it says nothing, as in the catalogs of workers in other languages.
  return sha256(canonicalJson({ definition, traces, ...(redacted && { redacted }) }))
}
