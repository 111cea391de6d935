const HOUR = '(?:[01]\\d|2[0-3])'
const TIME = new RegExp(
  `^(\\d{4}-\\d\\d-\\d\\d)[Tt ](${HOUR}:[0-5]\\d)(:[0-5]\\d)?(?:[.,](\\d{1,9}))?(?:[Zz]|([+-]${HOUR})(?::?([0-5]\\d))?)$`,
)

/**
 * The time as RFC 3339 writes it; null if it is not one. Also reads what generators of times write: a space or `t`, no
 * seconds, a fraction after a comma, `z`, and offsets such as `+0000` and `+00`.
 */
export function toRfc3339(text: string): string | null {
  const [, day, minutes, seconds = ':00', fraction, offsetHours, offsetMinutes = '00'] = TIME.exec(text) ?? []
  if (day === undefined || !isDay(day)) return null
  const offset = offsetHours === undefined ? 'Z' : `${offsetHours}:${offsetMinutes}`
  return `${day}T${minutes}${seconds}${fraction === undefined ? '' : `.${fraction}`}${offset}`
}

/** V8 reads 30 February as 2 March. */
function isDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}
