/** Times and durations as people read them. */

const UNITS: [name: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
]

/** Such as `340 ms`, `2.4 s`, `3 min 20 s` and `2 d 4 h`. */
export function durationText(ms: number): string {
  if (ms < 0) return '0 ms'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${trimmed(ms / 1000)} s`
  const at = UNITS.findIndex(([, size]) => ms >= size)
  const [[name, size] = ['s', 1000], next] = UNITS.slice(at, at + 2)
  const whole = Math.floor(ms / size)
  const rest = next === undefined ? 0 : Math.floor((ms - whole * size) / next[1])
  return rest === 0 || next === undefined ? `${whole} ${name}` : `${whole} ${name} ${rest} ${next[0]}`
}

/** The largest unit alone, such as `3 min`. */
export function coarseText(ms: number): string {
  return durationText(ms).split(' ').slice(0, 2).join(' ')
}

function trimmed(seconds: number): string {
  return seconds < 10 ? seconds.toFixed(1).replace(/\.0$/, '') : String(Math.round(seconds))
}

/** Such as `5 s ago`, `in 2 h`, and a date for what is more than a day away. */
export function agoText(at: number, now: number): string {
  const ms = now - at
  if (Math.abs(ms) >= 86_400_000) return dateText(at)
  const [name, size] = UNITS.find(([, unit]) => Math.abs(ms) >= unit) ?? ['s', 1000]
  const count = Math.floor(Math.abs(ms) / size)
  if (count === 0) return 'now'
  return ms > 0 ? `${count} ${name} ago` : `in ${count} ${name}`
}

const DATE = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })

export function dateText(at: number): string {
  return DATE.format(at)
}

export function fullTimeText(at: number): string {
  return FULL.format(at)
}

export function clockText(at: number): string {
  return Number.isNaN(at) ? '' : CLOCK.format(at)
}

export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`
}

/** The value as indented JSON. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? 'null'
}

const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g

const DAY_MS = 86_400_000

/** The advice of the service as a sentence, with its times in the visitor's zone. */
export function sentenceOf(advice: string, now: number): string {
  const local = advice.replace(TIME, (time) => timeText(new Date(time).getTime(), now))
  const text = local.charAt(0).toUpperCase() + local.slice(1)
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

function timeText(at: number, now: number): string {
  const shown = Math.abs(at - now) > DAY_MS ? dateText(at) : clockText(at)
  return at > now ? `${shown} (in ${durationText(at - now)})` : shown
}

/** `2026-01-31T12:00` in the zone of the browser as a time in UTC; what is not a time stays as it is. */
export function toUtc(local: string): string {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? local : at.toISOString()
}

/** The value of an input of the type `datetime-local`. */
export function toLocal(utc: string | null): string {
  const at = new Date(utc ?? '')
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().replace(/(?::00)?(?:\.000)?Z$/, '')
}
