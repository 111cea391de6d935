/**
 * The SDK's external storage, over memory, and a codec server that gives its payloads back:
 * Temporal's `/download`, spoken for real.
 */
import {
  type DataConverter,
  ExternalStorage,
  type Payload,
  type StorageDriver,
  StorageDriverClaim,
} from '@temporalio/common'
import { type CodecServer, type JsonPayload, opaque, startCodec } from './codec.ts'

export interface RunningStore {
  /** For workers and clients: what is larger than the threshold goes to the store. */
  dataConverter: DataConverter
  codec: CodecServer
  stop(): Promise<void>
}

export interface StoreOptions {
  thresholdBytes: number
  /** Of a worker with a payload codec, which encodes before it stores. */
  opaque?: boolean
}

const NAME = 'memory'

export async function startStore({ thresholdBytes, opaque: isOpaque = false }: StoreOptions): Promise<RunningStore> {
  const stored = new Map<string, Payload>()
  const driver: StorageDriver = {
    name: NAME,
    type: 'test.memory',
    store: async (_context, payloads) =>
      payloads.map((payload) => {
        const key = crypto.randomUUID()
        stored.set(key, payload)
        return new StorageDriverClaim({ key })
      }),
    retrieve: async (_context, claims) => claims.map(({ claimData }) => found(stored, claimData.key)),
  }
  const download = (references: JsonPayload[]) => references.map((reference) => found(stored, keyOf(reference)))
  const codec = await startCodec({ opaque: isOpaque, download })
  const externalStorage = new ExternalStorage({ drivers: [driver], payloadSizeThreshold: thresholdBytes })
  return {
    dataConverter: { externalStorage, ...(isOpaque && { payloadCodecs: [opaque] }) },
    codec,
    stop: () => codec.close(),
  }
}

function found(stored: ReadonlyMap<string, Payload>, key: string | undefined): Payload {
  const payload = stored.get(key ?? '')
  if (payload === undefined) throw new Error('there is no such payload')
  return payload
}

/** As codec servers do it that are built with Temporal's Go SDK. */
function keyOf({ metadata, data }: JsonPayload): string {
  if (atob(metadata.messageType ?? '') !== 'temporal.api.sdk.v1.ExternalStorageReference')
    throw new Error('all payloads must be storage references')
  const { driverName, claimData } = JSON.parse(atob(data)) as { driverName: string; claimData: { key: string } }
  if (driverName !== NAME) throw new Error('there is no such driver')
  return claimData.key
}
