import type { google } from '@temporalio/proto'

/** Milliseconds since the epoch; null for what was never set, which the engine writes as the year 1. */
export function toEpochMs(timestamp: google.protobuf.ITimestamp | null | undefined): number | null {
  const seconds = Number(timestamp?.seconds ?? 0)
  return seconds <= 0 ? null : seconds * 1000 + Math.floor((timestamp?.nanos ?? 0) / 1e6)
}

export function toDate(timestamp: google.protobuf.ITimestamp | null | undefined): Date | null {
  const ms = toEpochMs(timestamp)
  return ms === null ? null : new Date(ms)
}
