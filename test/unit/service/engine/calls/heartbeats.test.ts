import { expect, test } from 'vitest'
import { toHeartbeats } from '../../../../../src/service/engine/calls/heartbeats.ts'
import { createPayloads } from '../../../../../src/service/engine/context.ts'
import { type Payload, toPayload } from '../../../../../src/shared/temporal/payload.ts'
import { turning } from '../../../shared/temporal/turning-codec.ts'

const PLAIN = createPayloads({ codec: null, maxBytes: 1000 })

function anActivity(activityId: string, payloads: Payload[], seconds = 17) {
  const lastHeartbeatTime = { seconds: Long(seconds), nanos: 0 }
  return { activityId, activityType: { name: 'import' }, attempt: 2, lastHeartbeatTime, heartbeatDetails: { payloads } }
}

// As the HTTP API sends it.
const Long = (value: number) => value as never

/** A reference to a value of this size in external storage. */
function aReference(sizeBytes: number): Payload {
  const encoder = new TextEncoder()
  const messageType = encoder.encode('temporal.api.sdk.v1.ExternalStorageReference')
  const metadata = { encoding: encoder.encode('json/protobuf'), messageType }
  return { metadata, data: encoder.encode('{}'), externalPayloads: [{ sizeBytes: Long(sizeBytes) }] }
}

test('toHeartbeats: activities without details are left out', () => {
  const without = { ...anActivity('a', []), heartbeatDetails: null }

  expect(toHeartbeats([anActivity('b', []), without], PLAIN)).toBeUndefined()
  expect(toHeartbeats([], PLAIN)).toBeUndefined()
})

test('toHeartbeats: the latest 50, the latest first', async () => {
  const activities = Array.from({ length: 60 }, (_, at) => anActivity(`${at}`, [toPayload(at)], 100 + at))

  const heartbeats = toHeartbeats(activities, PLAIN)

  const expected = Array.from({ length: 50 }, (_, at) => 59 - at)
  expect(heartbeats?.activities.map(({ activityId }) => Number(activityId))).toEqual(expected)
  expect(await heartbeats?.decode()).toEqual(expected)
})

test('toHeartbeats: details that do not fit into 1 MiB with those before are null and do not reach the codec', async () => {
  let decodedBytes = 0
  const codec = {
    ...turning,
    decode: async (payloads: Payload[]) => {
      decodedBytes += payloads.reduce((sum, { data }) => sum + (data?.length ?? 0), 0)
      return turning.decode(payloads)
    },
  }
  const sent = ['small', 'x'.repeat(600_000), 'y'.repeat(600_000), 'last']
  const encoded = await turning.encode(sent.map(toPayload))
  const activities = encoded.map((payload, at) => anActivity(`${at}`, [payload], 100 - at))

  const values = await toHeartbeats(activities, createPayloads({ codec, maxBytes: 1000 }))?.decode()

  expect(values?.map((value) => String(value).slice(0, 5))).toEqual(['small', 'xxxxx', 'null', 'last'])
  expect(decodedBytes).toBeLessThan(700_000)
})

test('toHeartbeats: a value that is stored elsewhere counts with its size, and is null without a codec', async () => {
  const downloads: number[] = []
  const download = async (references: Payload[]) => {
    downloads.push(references.length)
    return references.map(() => toPayload('found'))
  }
  const activities = [anActivity('small', [aReference(1000)]), anActivity('large', [aReference(2_000_000)], 1)]
  const withCodec = createPayloads({ codec: { ...turning, download }, maxBytes: 1000 })

  expect(await toHeartbeats(activities, withCodec)?.decode()).toEqual(['found', null])
  expect(downloads).toEqual([1])
  expect(await toHeartbeats(activities, PLAIN)?.decode()).toEqual([null, null])
})
