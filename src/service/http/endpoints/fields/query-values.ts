/** Values of query parameters, which are always strings. */
import * as z from 'zod/mini'
import { durationMs } from '../../../../shared/lib/duration.ts'
import { DURATION_PATTERN } from './field-values.ts'
import { jsonForms, optional } from './json-forms.ts'

export function queryInteger(min: number, max: number) {
  return z
    .pipe(
      z.string().check(
        z.refine((text: string) => /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max, {
          message: `must be an integer from ${min} to ${max}`,
        }),
      ),
      z.transform(Number),
    )
    .register(jsonForms, { type: 'integer', minimum: min, maximum: max })
}

export const queryFlag = z
  .pipe(
    z.enum(['true', 'false'], { error: 'must be true or false' }),
    z.transform((text) => text === 'true'),
  )
  .register(jsonForms, { type: 'boolean', enum: undefined })

/** The maximum `wait` of a request that holds a long poll of its own. */
export const MAX_WAIT_MS = 60_000

/** Milliseconds, or with a unit: `30s`. */
export function queryDuration(maxMs: number) {
  const toMs = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : durationMs(text))
  return z
    .pipe(
      z.string().check(
        z.refine((text: string) => (toMs(text) ?? Number.POSITIVE_INFINITY) <= maxMs, {
          message: `must be a number of milliseconds or a duration like "30s", at most ${maxMs} ms`,
        }),
      ),
      z.transform((text: string) => Math.ceil(toMs(text) ?? 0)),
    )
    .register(jsonForms, { pattern: `^(?:[0-9]{1,15}|${DURATION_PATTERN})$` })
}

/** The parameters of requests whose responses are pages. */
export const pageParameters = {
  pageSize: optional(queryInteger(1, 1000), 'Default 100'),
  pageToken: optional(z.string(), '`nextPageToken` of the previous page'),
}

export const DEFAULT_PAGE_SIZE = 100
