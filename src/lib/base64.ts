// A call can't take more than some 100 000 arguments; a multiple of 3, so that no chunk but the last is padded.
const CHUNK_BYTES = 0x6000

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    // Spread would go through an iterator, which takes five times as long.
    text += btoa(Reflect.apply(String.fromCharCode, null, bytes.subarray(at, at + CHUNK_BYTES)))
  }
  return text
}

/** Of either alphabet, padded or not, as protobuf's JSON may have it. Throws for what is not base64. */
export function fromBase64(text: string): Uint8Array {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at)
  return bytes
}
