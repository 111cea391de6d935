import type { temporal } from '@temporalio/proto'
import { fromBase64 } from '../../shared/lib/base64.ts'
import {
  type Codec,
  createPayloadReader,
  encodingOf,
  needsCodec,
  type Payload,
  type PayloadReader,
  toPayload,
} from '../../shared/temporal/payload.ts'
import { toRedactable } from '../../shared/temporal/redactable-value.ts'
import { ServiceError } from '../model/errors.ts'
import { isRawPayload } from '../model/raw-payload.ts'

/** Values to Temporal's payloads and back. */
export interface Payloads extends PayloadReader {
  /** For places where secrets are redacted. */
  redactable: PayloadReader
  /** Whether values are encoded by a codec. */
  hasCodec: boolean
  /**
   * Rejects with `PayloadTooLargeError` when the encoded payloads exceed the limit, together with `others`, which are
   * sent in the same call. Null for an empty list.
   */
  encode(values: readonly unknown[], others?: readonly Payload[]): Promise<temporal.api.common.v1.IPayloads | null>
  /** The same for several lists. The codec is called once. */
  encodeLists(lists: readonly (readonly unknown[])[], others?: readonly Payload[]): Promise<Payload[][]>
}

export interface PayloadOptions {
  codec: Codec | null
  /** For all payloads of one call together. */
  maxBytes: number
  /** Called for each output that only a codec can decode, while none is configured. */
  onEncodedOutput?: (output: EncodedOutput) => void
}

export interface EncodedOutput {
  encoding: string
  workflowId: string
}

export function createPayloads({ codec, maxBytes, onEncodedOutput = () => {} }: PayloadOptions): Payloads {
  const reader = createPayloadReader(codec)

  async function encode(values: readonly unknown[], others: readonly Payload[]): Promise<Payload[]> {
    const plain = values.map(toEnginePayload)
    const payloads = codec === null || plain.length === 0 ? plain : await codec.encode(plain)
    assertSize([...payloads, ...others], maxBytes)
    return payloads
  }

  return {
    ...reader,
    redactable: createPayloadReader(codec, toRedactable),
    hasCodec: codec !== null,

    encode: async (values, others = []) => toPayloads(await encode(values, others)),

    async encodeLists(lists, others = []) {
      const payloads = await encode(lists.flat(), others)
      return lists.map(({ length }) => payloads.splice(0, length))
    },

    decodeOutput(payloads, workflowId) {
      const encoded = codec === null && workflowId !== undefined ? payloads?.find(needsCodec) : undefined
      if (encoded && workflowId !== undefined) onEncodedOutput({ encoding: encodingOf(encoded), workflowId })
      return reader.decodeOutput(payloads)
    },
  }
}

const encoder = new TextEncoder()

function toEnginePayload(given: unknown): Payload {
  if (!isRawPayload(given)) return toPayload(given)
  const { metadata, data = '', ...json } = given.$payload
  return {
    metadata: Object.fromEntries(Object.entries(metadata).map(([key, text]) => [key, encoder.encode(text)])),
    data: 'value' in json ? encoder.encode(JSON.stringify(json.value)) : fromBase64(data),
  }
}

/** Null for an empty list, as the engine expects it. */
export function toPayloads(payloads: Payload[]): temporal.api.common.v1.IPayloads | null {
  return payloads.length === 0 ? null : { payloads }
}

// The most that protobuf adds to a payload, and to each entry of its metadata.
const PAYLOAD_BYTES = 10
const ENTRY_BYTES = 12

function assertSize(payloads: Payload[], maxBytes: number): void {
  const bytes = payloads.reduce((sum, payload) => sum + sizeOf(payload), 0)
  if (bytes <= maxBytes) return
  throw new ServiceError(
    'PayloadTooLargeError',
    `The payload is ${bytes} bytes as encoded for the engine; the limit is ${maxBytes} bytes. Store large values elsewhere and send a reference`,
    { details: { source: 'gateway' } },
  )
}

/** An upper bound of the size that the payload has in protobuf. */
export function sizeOf({ data, metadata }: Payload): number {
  const entries = Object.entries(metadata ?? {}).map(([key, value]) => key.length + value.length + ENTRY_BYTES)
  return entries.reduce((sum, bytes) => sum + bytes, (data?.length ?? 0) + PAYLOAD_BYTES)
}
