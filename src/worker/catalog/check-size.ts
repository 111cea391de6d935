import type { CatalogDefinition } from '../../protocol/catalog.ts'

// Temporal's limit for a payload, `limit.blobSize.error`, unless the engine is configured otherwise.
const MAX_BYTES = 2 * 1024 * 1024

// Of a payload beside its data: what says how it is encoded, and lengths.
const OVERHEAD_BYTES = 64

/** Why the engine would not take a catalog; null when it is small enough. */
export function sizeFault(definition: CatalogDefinition): string | null {
  const bytes = bytesOf(definition)
  if (bytes + OVERHEAD_BYTES <= MAX_BYTES) return null
  const sizes = definition.workflows.map((workflow) => ({ name: workflow.name, bytes: bytesOf(workflow) }))
  const largest = sizes.reduce((one, other) => (other.bytes > one.bytes ? other : one), { name: '', bytes: 0 })
  const limit = `the engine takes ${MAX_BYTES - OVERHEAD_BYTES} at most`
  return `it has ${bytes} bytes as JSON, ${limit}; the largest workflow is "${largest.name}" with ${largest.bytes} bytes`
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
