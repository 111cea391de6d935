import { durationMs } from '../../shared/lib/duration.ts'
import { UsageError } from '../failures.ts'

/** Milliseconds of a flag such as `30s` or `1500`; undefined if it is not given. */
export function readDuration(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d{1,15}$/.test(value) ? Number(value) : durationMs(value)
  if (ms === null || ms <= 0)
    throw new UsageError(`${flag} must be a number of milliseconds above 0, or a duration such as 30s or 5m`)
  return Math.ceil(ms)
}

export function readInteger(flag: string, value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new UsageError(`${flag} must be an integer`)
  return Number(value)
}
