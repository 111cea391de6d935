/**
 * Payloads that SDKs store outside the engine, which holds only a reference: https://docs.temporal.io/external-storage
 */
import type { temporal } from '@temporalio/proto'
import type { StoredElsewhere } from '../protocol/execution.ts'

type Payload = temporal.api.common.v1.IPayload

const REFERENCE_TYPE = 'temporal.api.sdk.v1.ExternalStorageReference'
const PROTOBUF_ENCODINGS: readonly string[] = ['json/protobuf', 'binary/protobuf']

// The encoding in the first releases of the Go SDK with external storage.
const FIRST_ENCODING = 'json/external-storage-reference'

// A limit on memory: all payloads of one engine call are held at the same time.
export const MAX_DOWNLOAD_BYTES = 32 * 1024 * 1024

/** Null when the payload holds the value itself. */
export function storedElsewhere(payload: Payload): StoredElsewhere | null {
  if (!isReference(payload) && !payload.externalPayloads?.length) return null
  return { sizeBytes: sizeOf(payload) }
}

/** Replaces references by the payloads that `download` finds, until together they exceed the limit. */
export async function resolveReferences(
  payloads: readonly Payload[],
  download: (references: Payload[]) => Promise<Payload[] | null>,
): Promise<readonly Payload[]> {
  let remainingBytes = MAX_DOWNLOAD_BYTES
  const references = payloads.filter((payload) => {
    if (!isReference(payload) || sizeOf(payload) > remainingBytes) return false
    remainingBytes -= sizeOf(payload)
    return true
  })
  const found = references.length === 0 ? null : await download(references)
  return found === null ? payloads : replacePayloads(payloads, references, found)
}

/** Replaces each payload of `some`, which are among `payloads`, by the one of `others` at the same index. */
export function replacePayloads(
  payloads: readonly Payload[],
  some: readonly Payload[],
  others: readonly Payload[],
): readonly Payload[] {
  if (some.length === payloads.length) return others
  const replacements = new Map(some.map((payload, index) => [payload, others[index]]))
  return payloads.map((payload) => replacements.get(payload) ?? payload)
}

/** Whether a codec server's `/download` accepts the payload: it is a reference that an SDK wrote. */
export function isReference({ metadata }: Payload): boolean {
  if (metadata?.encoding === undefined) return false
  const encoding = decodeText(metadata.encoding)
  // Most payloads have no message type: nothing is decoded for them.
  const isTyped = metadata.messageType !== undefined && decodeText(metadata.messageType) === REFERENCE_TYPE
  return encoding === FIRST_ENCODING || (isTyped && PROTOBUF_ENCODINGS.includes(encoding))
}

function sizeOf({ externalPayloads }: Payload): number {
  // A 64-bit integer is an object over gRPC, a number over HTTP, and a string from a codec server.
  return (externalPayloads ?? []).reduce((sum, { sizeBytes }) => sum + Number(String(sizeBytes ?? 0)), 0)
}

const decoder = new TextDecoder()

function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}
