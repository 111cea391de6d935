const UNIT_MS = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** Timers with a longer delay than 2^31 - 1 ms fire at once. */
export const MAX_TIMER_MS = 2_147_483_647

/** Milliseconds of a duration with a unit ("30s", "1.5h"); null for anything else. */
export function durationMs(duration: string): number | null {
  const [, amount, unit = ''] = /^(\d{1,15}(?:\.\d{1,15})?) ?(ms|s|m|h|d)$/.exec(duration) ?? []
  const unitMs = UNIT_MS.get(unit)
  return unitMs === undefined ? null : Number(amount) * unitMs
}
