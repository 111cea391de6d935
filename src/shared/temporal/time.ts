import type { google } from '@temporalio/proto'

/** Milliseconds since the epoch; null for a timestamp that was never set, which the engine writes as the year 1. */
export function toEpochMs(timestamp: google.protobuf.ITimestamp | null | undefined): number | null {
  const seconds = Number(timestamp?.seconds ?? 0)
  return seconds <= 0 ? null : seconds * 1000 + nanosToMs(timestamp?.nanos)
}

export function toDate(timestamp: google.protobuf.ITimestamp | null | undefined): Date | null {
  const ms = toEpochMs(timestamp)
  return ms === null ? null : new Date(ms)
}

/** Milliseconds of a duration; 0 when it is not set. */
export function toDurationMs(duration: google.protobuf.IDuration | null | undefined): number {
  return Number(duration?.seconds ?? 0) * 1000 + nanosToMs(duration?.nanos)
}

export function toDuration(ms: number): google.protobuf.IDuration {
  const seconds = Math.floor(ms / 1000)
  return { seconds: toInt64(seconds), nanos: (ms - seconds * 1000) * 1e6 }
}

/** `time` is RFC 3339. */
export function toTimestamp(time: string): google.protobuf.ITimestamp {
  const ms = Date.parse(time)
  const seconds = Math.floor(ms / 1000)
  return { seconds: toInt64(seconds), nanos: (ms - seconds * 1000) * 1e6 }
}

/** For timeouts and delays that the engine requires, but that must never elapse. */
export const TEN_YEARS_MS = 10 * 365 * 24 * 60 * 60 * 1000

function nanosToMs(nanos: number | null | undefined): number {
  return Math.floor((nanos ?? 0) / 1e6)
}

type Int64 = NonNullable<google.protobuf.IDuration['seconds']>

// protobufjs also writes plain numbers; its types know only Long.
export function toInt64(value: number): Int64 {
  return value as unknown as Int64
}
