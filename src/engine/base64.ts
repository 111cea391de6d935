// A call can't take more than some 100 000 arguments; a multiple of 3, so that no chunk but the last is padded.
const CHUNK_BYTES = 0x6000

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES)))
  }
  return text
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
