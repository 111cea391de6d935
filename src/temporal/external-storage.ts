/** Payloads that the SDKs keep in a store of their own, and of which the engine has a reference: https://docs.temporal.io/external-storage */
import type { temporal } from '@temporalio/proto'
import type { StoredElsewhere } from '../protocol/execution.ts'

type Payload = temporal.api.common.v1.IPayload

const REFERENCE_TYPE = 'temporal.api.sdk.v1.ExternalStorageReference'
const PROTOBUF_ENCODINGS: readonly string[] = ['json/protobuf', 'binary/protobuf']

// The first releases of the Go SDK with external storage wrote this one.
const FIRST_ENCODING = 'json/external-storage-reference'

// What a service holds in memory for one call of the engine.
export const MAX_DOWNLOAD_BYTES = 32 * 1024 * 1024

/** Null for a payload that holds its value itself. */
export function storedElsewhere(payload: Payload): StoredElsewhere | null {
  if (!isReference(payload) && !payload.externalPayloads?.length) return null
  return { sizeBytes: sizeOf(payload) }
}

/** The payloads with those in the place of references that `download` finds, as far as they are not too large together. */
export async function resolveReferences(
  payloads: readonly Payload[],
  download: (references: Payload[]) => Promise<Payload[] | null>,
): Promise<readonly Payload[]> {
  let leftBytes = MAX_DOWNLOAD_BYTES
  const references = payloads.filter((payload) => {
    if (!isReference(payload) || sizeOf(payload) > leftBytes) return false
    leftBytes -= sizeOf(payload)
    return true
  })
  const found = references.length === 0 ? null : await download(references)
  return found === null ? payloads : replaced(payloads, references, found)
}

/** The payloads with `others` in the places of `some` of them. */
export function replaced(
  payloads: readonly Payload[],
  some: readonly Payload[],
  others: readonly Payload[],
): readonly Payload[] {
  if (some.length === payloads.length) return others
  const places = new Map(some.map((payload, index) => [payload, others[index]]))
  return payloads.map((payload) => places.get(payload) ?? payload)
}

/** What the SDKs write, and a codec server's `/download` takes. */
export function isReference({ metadata }: Payload): boolean {
  if (metadata?.encoding === undefined) return false
  const encoding = textOf(metadata.encoding)
  // Most payloads have no type.
  const isTyped = metadata.messageType !== undefined && textOf(metadata.messageType) === REFERENCE_TYPE
  return encoding === FIRST_ENCODING || (isTyped && PROTOBUF_ENCODINGS.includes(encoding))
}

function sizeOf({ externalPayloads }: Payload): number {
  // A 64-bit integer is an object over gRPC, a number over HTTP, and text from a codec server.
  return (externalPayloads ?? []).reduce((sum, { sizeBytes }) => sum + Number(String(sizeBytes ?? 0)), 0)
}

const decoder = new TextDecoder()

function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}
