/** How much the service does at the same time. */
import { bytes, duration, integerVariable, type Variables } from './variables.ts'

export interface LimitsConfig {
  maxBodyBytes: number
  /** Bodies in memory whose senders have not proven who they are, together. Infinite on workerd. */
  maxUnprovenBytes: number
  /** Requests in flight, without those that only wait. Infinite on workerd. */
  maxInFlight: number
  /** Lines of one bulk that are carried out at a time: at most `maxInFlight`. */
  bulkConcurrency: number
  /** Sum of the encoded payloads of one request. */
  maxPayloadBytes: number
  /** The longest `timeout` that a `run` request may set. */
  maxRunTimeoutMs: number
  /** Long polls of the engine that all waits for runs share. */
  maxPolls: number
  /** What is kept in memory of the items of one stream; all streams together may have 16 times as much. */
  streamBufferBytes: number
  /** Updates that the readers of the stream of one run may send to it. */
  streamUpdates: number
}

export const MEBIBYTE = 1024 * 1024

// The engine rejects payloads of 2 MiB, but accepts a larger update and then loses the run.
// The margin is for the protobuf envelope.
const MAX_PAYLOAD_BYTES = 2 * MEBIBYTE - 16 * 1024

// The engine allows 1200 long polls in each namespace, and other clients use some of them.
const MAX_POLLS = 1000

// The engine allows 2000 updates for each run. The remaining 500 are for the updates of clients.
const STREAM_UPDATES = 1500

export function limitsConfig({ readOr }: Variables, isolated: boolean): LimitsConfig {
  // When a client of workerd resets its connection, the request's code stops without running its `finally`, so that
  // neither requests nor their bytes can be counted. The platform limits them itself.
  const orInfinite = (limit: number) => (isolated ? Number.POSITIVE_INFINITY : limit)
  const maxInFlight = orInfinite(readOr('SERVICE_MAX_INFLIGHT', integerVariable(1), 64))
  return {
    maxBodyBytes: readOr('SERVICE_MAX_BODY_BYTES', bytes, 2 * MEBIBYTE),
    maxUnprovenBytes: orInfinite(readOr('SERVICE_MAX_UNPROVEN_BYTES', bytes, 32 * MEBIBYTE)),
    maxInFlight,
    // With more, lines would wait in the queue for a place, and be rejected.
    bulkConcurrency: Math.min(readOr('SERVICE_BULK_CONCURRENCY', integerVariable(1), 32), maxInFlight),
    maxPayloadBytes: readOr('SERVICE_MAX_PAYLOAD_BYTES', bytes, MAX_PAYLOAD_BYTES),
    maxRunTimeoutMs: readOr('SERVICE_RUN_MAX_TIMEOUT', duration({ minMs: 1 }), 24 * 3_600_000),
    maxPolls: readOr('SERVICE_MAX_POLLS', integerVariable(1), MAX_POLLS),
    streamBufferBytes: readOr('SERVICE_STREAM_BUFFER_BYTES', bytes, 4 * MEBIBYTE),
    streamUpdates: readOr('SERVICE_STREAM_UPDATES', integerVariable(1), STREAM_UPDATES),
  }
}
