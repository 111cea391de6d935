/** The bodies of requests about links. */
import * as z from 'zod/mini'
import { isObject } from '../../../lib/json.ts'
import { checkedString } from '../../../protocol/checked-string.ts'
import { characterIssue } from '../../../protocol/names.ts'
import type { RequestBody } from '../../endpoint.ts'
import { COMMENTS } from '../../links/link-state.ts'
import { durationField } from './field-values.ts'
import { jsonForms, optional } from './json-forms.ts'
import { activityId, handlerName, text } from './names.ts'

const DAY_MS = 86_400_000
const MAX_LIFETIME_MS = 30 * DAY_MS
const MAX_CHOICES = 10

/** A text that is shown on the page. */
function shownText(maxLength: number, description: string) {
  return checkedString((value) => {
    if (value.trim() === '') return 'must not be blank'
    return value.length > maxLength ? `must have at most ${maxLength} characters` : characterIssue(value)
  }).register(jsonForms, { description, minLength: 1, maxLength, pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$' })
}

const choice = z
  .strictObject({
    label: shownText(80, 'What the button says, and what the answer is called. Unique in the link'),
    payload: optional(
      z.unknown(),
      "The handler's only argument, or the output of the activity. Without `payload` there is none",
    ),
    comment: optional(
      z.enum(COMMENTS, { error: `must be one of ${COMMENTS.join(', ')}` }),
      'Whether the person may or must write a comment, the property `comment` of the payload. Default: none',
    ),
  })
  .check(
    z.refine(({ payload, comment = 'none' }) => comment === 'none' || isObject(payload), {
      error: 'must contain an object as payload, because it takes a comment',
      when: ({ value }) => isObject(value),
    }),
  )
  .register(jsonForms, {
    if: { properties: { comment: { enum: ['optional', 'required'] } }, required: ['comment'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { payload: { type: 'object' } }, required: ['payload'] },
  })

const choices = z
  .array(choice)
  .check(
    z.minLength(1, { error: 'must not be empty' }),
    z.maxLength(MAX_CHOICES, { error: `must have at most ${MAX_CHOICES} elements` }),
    z.refine((all) => new Set(all.map(({ label }) => label)).size === all.length, {
      error: 'must not contain a label twice',
    }),
  )
  .register(jsonForms, { description: 'The possible answers' })

const KINDS = ['signal', 'update', 'complete'] as const

export const linkRequest = {
  name: 'LinkRequest',
  schema: z.pipe(
    z
      .strictObject({
        title: shownText(200, 'The question'),
        signal: optional(handlerName, 'Name of the signal to send'),
        update: optional(handlerName, 'Instead of `signal`: name of the update to send'),
        complete: optional(
          z.strictObject({ activityId }),
          'Instead of `signal`: the open activity to complete. The payload is its output',
        ),
        choices,
        expiresIn: optional(durationField(MAX_LIFETIME_MS), 'How long the link can be used. Default: 24 hours'),
      })
      .check(
        z.refine((body) => KINDS.filter((kind) => kind in body).length === 1, {
          message: `must contain one of ${KINDS.join(', ')}`,
          when: ({ value }) => isObject(value),
        }),
      )
      .register(jsonForms, {
        if: { required: ['signal'] },
        else: { if: { required: ['update'] }, else: { required: ['complete'] } },
        not: {
          anyOf: [
            { required: ['signal', 'update'] },
            { required: ['signal', 'complete'] },
            { required: ['update', 'complete'] },
          ],
        },
      }),
    z.transform(({ title, signal, update, complete, choices, expiresIn = DAY_MS }) => ({
      title,
      kind: complete ? ('complete' as const) : update === undefined ? ('signal' as const) : ('update' as const),
      handler: signal ?? update ?? '',
      ...complete,
      choices: choices.map(({ comment = 'none', ...rest }) => ({ ...rest, comment })),
      expiresInMs: expiresIn,
    })),
  ),
  isRequired: true,
} satisfies RequestBody<unknown>

/** JSON, or the form of the page. */
export const linkAnswer = {
  name: 'LinkAnswer',
  schema: z.strictObject({
    choice: shownText(80, 'The label of the choice'),
    comment: optional(text, 'For a choice that takes one, at most 2000 characters'),
  }),
  isRequired: true,
  acceptsForm: true,
} satisfies RequestBody<unknown>
