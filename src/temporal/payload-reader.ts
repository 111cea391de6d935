import { isReference, replacePayloads, resolveReferences, storedElsewhere } from './external-storage.ts'
import { type Decoded, fromPayload, isJson, type Payload, toDecoded, toSingleDecoded } from './payload.ts'

/** Transforms payloads one for one: encryption, compression, storage elsewhere. */
export interface Codec {
  encode(payloads: Payload[]): Promise<Payload[]>
  decode(payloads: Payload[]): Promise<Payload[]>
  /** Loads and decodes the payloads behind references to a worker's external storage; null when it cannot. */
  download?(references: Payload[]): Promise<Payload[] | null>
}

/** Decodes payloads. No method rejects for a payload that it cannot decode; they reject when the codec fails. */
export interface PayloadReader {
  /** `{encoding, data}` for a payload that does not hold JSON; null for one that is stored elsewhere. */
  decode(payloads: PayloadList): Promise<unknown[]>
  /** Like `decode`; also says which values are stored elsewhere. */
  decodeEach(payloads: PayloadList): Promise<Decoded[]>
  /** What a workflow or a handler returned: the one value, null for none, the array for several. */
  decodeOutput(payloads: PayloadList, workflowId?: string): Promise<Decoded>
  /** Undefined for a payload that does not hold JSON. Use it where the service interprets the value. */
  decodeJson(payloads: readonly Payload[]): Promise<unknown[]>
}

export type PayloadList = readonly Payload[] | null | undefined

export function createPayloadReader(codec: Codec | null): PayloadReader {
  async function throughCodec(payloads: readonly Payload[]): Promise<readonly Payload[]> {
    if (codec === null) return payloads
    // SDKs encode first and store elsewhere afterwards: a reference itself is never encoded.
    const values = payloads.filter((payload) => !isReference(payload))
    const decoded = values.every(isJson) ? payloads : replacePayloads(payloads, values, await codec.decode(values))
    return codec.download === undefined ? decoded : resolveReferences(decoded, codec.download)
  }

  const decodeEach = async (payloads: PayloadList) => (await throughCodec(payloads ?? [])).map(toDecoded)

  return {
    decode: async (payloads) => (await decodeEach(payloads)).map(({ value }) => value),
    decodeEach,
    decodeOutput: async (payloads) => toSingleDecoded(await decodeEach(payloads)),
    decodeJson: async (payloads) =>
      (await throughCodec(payloads)).map((payload) =>
        storedElsewhere(payload) === null ? fromPayload(payload) : undefined,
      ),
  }
}
