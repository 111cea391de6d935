/** The memo field with which a schedule says which request has written it. Always plain JSON. */
import { isObject } from '../lib/json.ts'

export const SCHEDULE_MEMO = '$schedule'

/** A set of schedules that are applied together, and the digest of the file that this one was applied from. */
export interface ScheduleSet {
  name: string
  digest: string
}

export interface ScheduleMark {
  /** A UUID of the request. */
  change: string
  /** That of the document which it has replaced, if the request has read it. */
  replaces?: string
  set?: ScheduleSet
}

/** Null for a schedule that another client has written. */
export function toScheduleMark(value: unknown): ScheduleMark | null {
  if (!isObject(value) || typeof value.change !== 'string') return null
  const { change, replaces, set } = value
  return {
    change,
    ...(typeof replaces === 'string' && { replaces }),
    ...(isSet(set) && { set: { name: set.name, digest: set.digest } }),
  }
}

function isSet(value: unknown): value is ScheduleSet {
  return isObject(value) && typeof value.name === 'string' && typeof value.digest === 'string'
}
