import type { CatalogDefinition } from '../../protocol/catalog.ts'

// Temporal's default limit for one payload, `limit.blobSize.error`.
const MAX_PAYLOAD_BYTES = 2 * 1024 * 1024

// The payload's encoding metadata and length prefixes.
const OVERHEAD_BYTES = 64

const MAX_BYTES = MAX_PAYLOAD_BYTES - OVERHEAD_BYTES

/** Why the catalog is too large for the engine; null when it is small enough. */
export function sizeError(definition: CatalogDefinition): string | null {
  const bytes = jsonBytes(definition)
  if (bytes <= MAX_BYTES) return null
  const sizes = definition.workflows.map((workflow) => ({ name: workflow.name, bytes: jsonBytes(workflow) }))
  const largest = sizes.reduce((one, other) => (other.bytes > one.bytes ? other : one), { name: '', bytes: 0 })
  return (
    `the catalog is too large: ${bytes} bytes as JSON, the maximum is ${MAX_BYTES}; ` +
    `the largest workflow is "${largest.name}" with ${largest.bytes} bytes`
  )
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
