import { canonicalJson } from './canonical-json.ts'
import type { CatalogDefinition, TraceTemplates } from './catalog.ts'

/** What a worker compares with its own before it publishes: hex SHA-256 of the canonical JSON of `{definition, traces}`. */
export async function catalogHash(definition: CatalogDefinition, traces: TraceTemplates): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson({ definition, traces }))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
