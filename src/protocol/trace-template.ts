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
  const encoded = encodeURIComponent(value).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
  if (encoded.length <= MAX_ENCODED_BYTES) return encoded
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(value)))
  const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
  // Never half an escape.
  return `${encoded.slice(0, MAX_ENCODED_BYTES).replace(/%.?$/, '')}-${hash}`
}
