/** The bodies of repairs: of an activity, and of the options of a run. */
import * as z from 'zod/mini'
import type { ActivityChange } from '../../../model/activity.ts'
import type { RequestBody } from '../../endpoint.ts'
import { jsonForms, optional } from './json-forms.ts'
import { activityCatalog, text } from './names.ts'
import { interval, optionFields, retryFields, toRetryOptions, versioningOverrideOrNull } from './start-fields.ts'

export const retryRequest = {
  name: 'RetryActivityRequest',
  schema: z.strictObject({
    dropHeartbeat: optional(
      z.boolean(),
      'Whether the next attempt does not get the details of the last heartbeat. Default: false',
    ),
    restoreOptions: optional(
      z.boolean(),
      'Whether timeouts and retry policy become those with which the activity was scheduled. Default: false',
    ),
  }),
  isRequired: false,
} satisfies RequestBody<unknown>

export const pauseRequest = {
  name: 'PauseActivityRequest',
  schema: z.strictObject({ reason: optional(text, 'Kept until the activity is unpaused. Ignored by `unpause`') }),
  isRequired: false,
} satisfies RequestBody<unknown>

const notEmpty = z.refine<object>((body) => Object.keys(body).length > 0, 'must contain at least one field')

export const timeout = (name: string) => optional(interval, `${name}: milliseconds, or a duration such as \`30s\``)

export const setRequest = {
  name: 'SetActivityRequest',
  schema: z.pipe(
    z
      .strictObject({
        startToCloseTimeout: timeout('Limit for each attempt'),
        scheduleToCloseTimeout: timeout('Limit for all attempts together'),
        scheduleToStartTimeout: timeout('How long an attempt may wait for a worker'),
        heartbeatTimeout: timeout('Maximum time between two heartbeats'),
        retry: optional(
          z.strictObject(retryFields).check(notEmpty).register(jsonForms, { minProperties: 1 }),
          'The fields of the retry policy to change',
        ),
        taskQueue: optional(activityCatalog, 'Task queue of the workers that execute the next attempt'),
        restore: optional(z.literal(true), 'Alone: all options become those with which the activity was scheduled'),
      })
      .check(
        notEmpty,
        z.refine((body) => !('restore' in body) || Object.keys(body).length === 1, {
          path: ['restore'],
          message: 'must be the only field',
        }),
      )
      .register(jsonForms, { minProperties: 1, if: { not: { required: ['restore'] } }, else: { maxProperties: 1 } }),
    z.transform(({ restore, retry, taskQueue, ...timeouts }): ActivityChange => {
      if (restore) return 'restore'
      return {
        ...Object.fromEntries(Object.entries(timeouts).map(([name, ms]) => [`${name}Ms`, ms])),
        ...(retry && { retry: toRetryOptions(retry) }),
        ...(taskQueue !== undefined && { taskQueue }),
      }
    }),
  ),
  isRequired: true,
} satisfies RequestBody<unknown>

export const optionsRequest = {
  name: 'SetOptionsRequest',
  schema: z
    .strictObject({
      versioningOverride: optional(
        versioningOverrideOrNull,
        'The version of the workers: `auto-upgrade`, or an object with `pinned`. Null removes the override',
      ),
      priority: optionFields.priority,
    })
    .check(notEmpty)
    .register(jsonForms, { minProperties: 1 }),
  isRequired: true,
} satisfies RequestBody<unknown>
