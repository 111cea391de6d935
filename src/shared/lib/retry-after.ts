/** How long the header `Retry-After` says to wait: seconds, or a date, which proxies send. Null if it says nothing. */
export function retryAfterMs(value: string | null): number | null {
  if (value === null || value.trim() === '') return null
  const seconds = Number(value)
  const ms = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}
