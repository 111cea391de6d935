import { percentEncoded } from './percent-encoded.ts'
import { sha256 } from './sha256.ts'

/** The most an id takes up in a key; longer ones are cut and made unique again by their hash. */
const MAX_ENCODED_BYTES = 120

/** Puts percent-encoded values in the places of `{workflowId}` and `{rootRunId}`. */
export async function fillTemplate(template: string, values: { workflowId: string; rootRunId: string }): Promise<string> {
  const workflowId = await encodeValue(values.workflowId)
  const rootRunId = await encodeValue(values.rootRunId)
  return template.replaceAll('{workflowId}', () => workflowId).replaceAll('{rootRunId}', () => rootRunId)
}

/** A value as it stands in a key: percent-encoded; above 120 bytes cut there, a hyphen, and the hex SHA-256 of the whole value. */
async function encodeValue(value: string): Promise<string> {
  const encoded = percentEncoded(value)
  if (encoded.length <= MAX_ENCODED_BYTES) return encoded
  // Never half an escape.
  return `${encoded.slice(0, MAX_ENCODED_BYTES).replace(/%.?$/, '')}-${await sha256(value)}`
}
