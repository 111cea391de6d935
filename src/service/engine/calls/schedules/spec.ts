/** When a schedule acts, as the engine writes it and as the API does. */
import type { temporal } from '@temporalio/proto'
import { toDate, toDuration, toDurationMs, toTimestamp } from '../../../../shared/temporal/time.ts'
import { CALENDAR_FIELDS, type Calendar, type When } from '../../../model/schedule.ts'

type Spec = temporal.api.schedule.v1.IScheduleSpec
type EngineCalendar = temporal.api.schedule.v1.IStructuredCalendarSpec
type Ranges = readonly temporal.api.schedule.v1.IRange[]

export function toSpec({ cron = [], every = [], calendars = [], except = [], ...rest }: When): Spec {
  const { timeZone, from, until, jitter } = rest
  return {
    cronString: cron.map(withComment),
    interval: every.map(({ interval, offset }) => ({
      interval: toDuration(interval),
      ...(offset !== undefined && { phase: toDuration(offset) }),
    })),
    // The engine fills in the defaults of `calendar`; a structured one with only an hour would never act.
    calendar: [...calendars],
    // Deprecated, but parsed by the engine. Its defaults would except one second of a day.
    excludeCalendar: except.map((calendar) => ({ second: '*', minute: '*', hour: '*', ...calendar })),
    ...(timeZone !== undefined && { timezoneName: timeZone }),
    ...(from !== undefined && { startTime: toTimestamp(from) }),
    ...(until !== undefined && { endTime: toTimestamp(until) }),
    ...(jitter !== undefined && { jitter: toDuration(jitter) }),
  }
}

/** The line itself is the comment, because the engine keeps a calendar instead. */
function withComment(cron: string): string {
  return cron.includes('#') ? cron : `${cron} # ${cron}`
}

export function toWhen(spec: Spec | null | undefined): When {
  const { interval, structuredCalendar, excludeStructuredCalendar, timezoneName, startTime, endTime, jitter } =
    spec ?? {}
  const from = toDate(startTime)
  const until = toDate(endTime)
  const jitterMs = toDurationMs(jitter)
  return {
    ...(structuredCalendar?.length && { calendars: structuredCalendar.map(toCalendar) }),
    ...(interval?.length && {
      every: interval.map((one) => {
        const offset = toDurationMs(one.phase)
        return { interval: toDurationMs(one.interval), ...(offset > 0 && { offset }) }
      }),
    }),
    ...(excludeStructuredCalendar?.length && { except: excludeStructuredCalendar.map(toCalendar) }),
    ...(timezoneName && { timeZone: timezoneName }),
    ...(from && { from: from.toISOString() }),
    ...(until && { until: until.toISOString() }),
    ...(jitterMs > 0 && { jitter: jitterMs }),
  }
}

/** All values of a field. A year has no limits: the engine leaves it out. */
const WHOLE: Readonly<Record<(typeof CALENDAR_FIELDS)[number], readonly [number, number]>> = {
  second: [0, 59],
  minute: [0, 59],
  hour: [0, 23],
  dayOfMonth: [1, 31],
  month: [1, 12],
  year: [2000, 2100],
  dayOfWeek: [0, 6],
}

function toCalendar({ comment, ...calendar }: EngineCalendar): Calendar {
  const fields = CALENDAR_FIELDS.flatMap((field) => {
    const ranges = calendar[field] ?? []
    return ranges.length === 0 ? [] : [[field, toText(ranges, WHOLE[field])] as const]
  })
  return { ...Object.fromEntries(fields), ...(comment && { comment }) }
}

function toText(ranges: Ranges, [first, last]: readonly [number, number]): string {
  return ranges.map((range) => rangeText(range, first, last)).join(',')
}

/** The engine writes one value as a range without an end, and leaves out a step of 1. */
function rangeText({ start, end, step }: Ranges[number], first: number, last: number): string {
  const from = start ?? 0
  const to = Math.max(from, end ?? 0)
  // A step without an end would reach to the last value.
  const every = from === to ? 1 : Math.max(1, step ?? 1)
  const text = from === first && to === last ? '*' : from === to ? `${from}` : `${from}-${to}`
  return every === 1 ? text : `${text}/${every}`
}
