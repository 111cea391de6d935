import type { Codec, Payload } from '../../../../src/shared/temporal/payload.ts'

export function payload(encoding: string, data: string | Uint8Array): Payload {
  return { metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(data) }
}

/** Turns every byte of a payload over. */
export const turning: Codec = {
  encode: async (payloads) => payloads.map(({ data }) => payload('binary/turned', turned(data))),
  decode: async (payloads) => payloads.map(({ data }) => payload('json/plain', turned(data))),
}

function turned(data: Uint8Array | null | undefined): Uint8Array {
  return Uint8Array.from(data ?? [], (byte) => byte ^ 0xff)
}
