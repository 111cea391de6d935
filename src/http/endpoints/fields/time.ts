const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** `isTime` for JSON Schema, which does not know how many days a month has. */
export const TIME_FORM = {
  format: 'date-time',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})$',
}

/** Whether it is a time as RFC 3339 writes it. */
export function isTime(text: string): boolean {
  return TIME.test(text) && !Number.isNaN(Date.parse(text))
}
