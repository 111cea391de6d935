/** The body of a schedule, and of what is done to one. */
import * as z from 'zod/mini'
import { isObject } from '../../../../shared/lib/json.ts'
import { CALENDAR_FIELDS, OVERLAPS, type ScheduleDocument, type When } from '../../../model/schedule.ts'
import type { RequestBody } from '../../endpoint.ts'
import { chosenSchema, timeField } from './field-values.ts'
import { jsonForms, optional } from './json-forms.ts'
import { catalogName, NO_NUL, requiredText, scheduledWorkflowId, text, workflowName } from './names.ts'
import { rawPayloads } from './raw-payloads.ts'
import { inputOrList, inputOrListForm, integer, interval, oneOf, optionFields, reservedMemo } from './start-fields.ts'

export const scheduleTime = () => timeField('2026-12-01T00:00:00Z')

const wholeSeconds = z.refine<number>((ms) => ms % 1000 === 0, 'must be whole seconds')
const zeroOrInterval = chosenSchema<number>((input) => (input === 0 ? z.literal(0) : interval)).register(jsonForms, {
  anyOf: [{ type: 'number', minimum: 0 }, { type: 'string' }],
})

const every = z
  .strictObject({
    interval: interval.check(wholeSeconds),
    offset: optional(zeroOrInterval.check(wholeSeconds), 'Time after each multiple of the interval since 1970'),
  })
  .check(
    z.refine(({ interval, offset = 0 }) => offset < interval, {
      path: ['offset'],
      message: 'must be less than interval',
    }),
  )

const calendarFields = Object.fromEntries(
  [...CALENDAR_FIELDS, 'comment'].map((field) => [field, z.exactOptional(requiredText)]),
)
const calendar = z.strictObject(calendarFields).register(jsonForms, {
  description: 'Numbers, ranges such as `1-5`, steps such as `*/10`, names such as `TUE`, or `*`',
})

const cronLine = requiredText
  .check(z.refine((line) => !/^\s*(?:CRON_)?TZ=/.test(line), 'must not name a time zone: use timeZone'))
  .register(jsonForms, { minLength: 1, pattern: `^(?!\\s*(?:CRON_)?TZ=)${NO_NUL}+$` })

const SOURCES = ['cron', 'every', 'calendars'] as const

const when = z
  .strictObject({
    cron: optional(z.array(cronLine), 'Cron lines, which are kept as calendars: `30 12 * * MON-FRI`'),
    every: optional(z.array(every), 'Intervals'),
    calendars: optional(z.array(calendar), 'Calendars. Absent fields: second, minute and hour 0, others `*`'),
    except: optional(z.array(calendar), 'Calendars of times at which nothing is started. Absent fields: `*`'),
    timeZone: optional(requiredText, 'Of cron lines and calendars, such as `Europe/Berlin`. Default UTC'),
    from: optional(scheduleTime(), 'The first time at which it can act'),
    until: optional(scheduleTime(), 'The last time at which it can act'),
    jitter: optional(zeroOrInterval, 'Each run starts up to this much later, by chance'),
  })
  .check(
    z.refine((given) => SOURCES.some((key) => (given[key]?.length ?? 0) > 0), {
      message: 'must have at least one of cron, every, calendars',
      when: ({ value }) => isObject(value),
    }),
    z.refine(({ from, until }) => from === undefined || until === undefined || Date.parse(until) > Date.parse(from), {
      path: ['until'],
      message: 'must be after from',
    }),
  )
  .register(jsonForms, {
    description: 'When it acts. At least one of `cron`, `every` and `calendars`',
    anyOf: SOURCES.map((key) => ({ required: [key], properties: { [key]: { minItems: 1 } } })),
  })

const MIN_CATCHUP_MS = 10_000
const catchupWindow = interval.check(
  z.refine((ms: number) => ms >= MIN_CATCHUP_MS, `must be at least ${MIN_CATCHUP_MS} ms`),
)

// That of the engine.
const DEFAULT_CATCHUP_MS = 365 * 24 * 3_600_000

export const overlapField = optional(
  oneOf(OVERLAPS),
  'What to do while an earlier run is open: `skip` (default), start when it has ended (`buffer-one`, `buffer-all`), end it first (`cancel-other`, `terminate-other`), or start beside it (`allow-all`)',
)

const {
  startDelay: _,
  cronSchedule: __,
  workflowIdConflictPolicy: ___,
  workflowIdReusePolicy: ____,
  ...scheduledOptions
} = optionFields

const set = z.strictObject({ name: requiredText, digest: requiredText })

export const scheduleRequest = {
  name: 'ScheduleRequest',
  schema: z
    .strictObject({
      workflowName,
      input: optional(
        z.unknown(),
        "The workflow's only argument. Exactly one of `input`, `args` and `payloads` is required",
      ),
      args: optional(z.array(z.unknown()), 'Instead of `input`: one element per argument; `[]` for none'),
      payloads: rawPayloads('`input` and `args`'),
      workflowId: optional(
        scheduledWorkflowId,
        'Runs have the id `<workflowId>-<time>`. At most 979 bytes. Default: the id of the schedule',
      ),
      catalog: optional(catalogName, 'Task queue of the workers. Default: that of the service'),
      ...scheduledOptions,
      when,
      overlap: overlapField,
      catchupWindow: optional(
        catchupWindow,
        'How late a time may still be acted on, after an outage: milliseconds, or a duration. Default 365 d',
      ),
      pauseOnFailure: optional(z.boolean(), 'Whether a run that fails pauses the schedule'),
      paused: optional(z.boolean(), 'Default false'),
      note: optional(text, 'For people'),
      remainingRuns: optional(integer(1), 'How many runs are still started. Default: no limit'),
      set: optional(set, 'The set of schedules that this one is applied with, and the digest of its file'),
    })
    .check(inputOrList('args'), reservedMemo)
    .register(jsonForms, inputOrListForm('args', [])),
  isRequired: true,
} satisfies RequestBody<unknown>

type ScheduleBody = z.output<typeof scheduleRequest.schema>

export function scheduleDocument(body: ScheduleBody): ScheduleDocument {
  const { overlap = 'skip', catchupWindow = DEFAULT_CATCHUP_MS, pauseOnFailure = false, paused = false } = body
  const { note = '', remainingRuns = null, set = null } = body
  return {
    // Zod derives the names of a calendar's fields as any strings.
    when: body.when as When,
    overlap,
    catchupWindowMs: catchupWindow,
    pauseOnFailure,
    paused,
    note: note || null,
    remainingRuns,
    set,
  }
}
