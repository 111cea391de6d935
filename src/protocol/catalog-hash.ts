import { canonicalJson } from './canonical-json.ts'
import type { CatalogDefinition, TraceTemplates } from './catalog.ts'
import { sha256 } from './sha256.ts'

/** What a worker compares with its own before it publishes: hex SHA-256 of the canonical JSON of `{definition, traces}`. */
export async function catalogHash(definition: CatalogDefinition, traces: TraceTemplates): Promise<string> {
  return sha256(canonicalJson({ definition, traces }))
}
