// A call takes at most about 100 000 arguments. A multiple of 3, because only the last chunk may be padded.
const CHUNK_BYTES = 0x6000

export function toBase64(bytes: Uint8Array): string {
  let base64 = ''
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    // A spread argument would use an iterator, which takes five times as long.
    base64 += btoa(Reflect.apply(String.fromCharCode, null, bytes.subarray(at, at + CHUNK_BYTES)))
  }
  return base64
}

/** Without padding, for URLs. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Accepts both alphabets, padded or not, as protobuf's JSON mapping does. Throws for invalid base64. */
export function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at)
  return bytes
}
