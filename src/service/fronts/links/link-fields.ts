/** The bodies of requests about links. */
import * as z from 'zod/mini'
import { isObject } from '../../../shared/lib/json.ts'
import { checkedString } from '../../../shared/wire/checked-string.ts'
import {
  HIDDEN_CHARACTERS,
  MAX_CHOICES,
  MAX_LABEL_LENGTH,
  MAX_TITLE_LENGTH,
  shownTextIssue,
} from '../../../shared/wire/shown-text.ts'
import type { RequestBody } from '../../http/endpoint.ts'
import { durationField } from '../../http/endpoints/fields/field-values.ts'
import { jsonForms, optional } from '../../http/endpoints/fields/json-forms.ts'
import { activityId, handlerName, questionKey, text } from '../../http/endpoints/fields/names.ts'
import { COMMENTS } from './link-state.ts'

const DAY_MS = 86_400_000
const MAX_LIFETIME_MS = 30 * DAY_MS
const MAX_DETAILS = 20

const SHOWN = `[^${HIDDEN_CHARACTERS}]`

/** A text that is shown on the page. */
function shownText(maxLength: number, description: string) {
  return checkedString((value) => shownTextIssue(value, maxLength)).register(jsonForms, {
    description,
    minLength: 1,
    maxLength,
    pattern: `^${SHOWN}*[^\\s${HIDDEN_CHARACTERS}]${SHOWN}*$`,
  })
}

const choice = z
  .strictObject({
    label: shownText(MAX_LABEL_LENGTH, 'What the button says, and what the answer is called. Unique in the link'),
    payload: optional(
      z.unknown(),
      "The handler's only argument, or the output of the activity. Without `payload` there is none",
    ),
    comment: optional(
      z.enum(COMMENTS, { error: `must be one of ${COMMENTS.join(', ')}` }),
      'Whether the person may or must write a comment, the property `comment` of the payload. Default: none',
    ),
    style: optional(z.enum(['danger'], { error: 'must be danger' }), '`danger` shows the button in red'),
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

const details = z
  .array(z.strictObject({ label: shownText(MAX_LABEL_LENGTH, 'What it is'), value: shownText(500, 'Its value') }))
  .check(z.maxLength(MAX_DETAILS, { error: `must have at most ${MAX_DETAILS} elements` }))

const KINDS = ['signal', 'update', 'complete', 'question'] as const

const PAIRS = KINDS.flatMap((kind, at) => KINDS.slice(at + 1).map((other) => ({ required: [kind, other] })))

export const linkRequest = {
  name: 'LinkRequest',
  schema: z.pipe(
    z
      .strictObject({
        title: optional(shownText(MAX_TITLE_LENGTH, ''), 'The question. Required without `question`'),
        details: optional(details, 'What the page shows below the question'),
        signal: optional(handlerName, 'Name of the signal to send'),
        update: optional(handlerName, 'Instead of `signal`: name of the update to send'),
        complete: optional(
          z.strictObject({ activityId }),
          'Instead of `signal`: the open activity to complete. The payload is its output',
        ),
        question: optional(
          questionKey,
          'Instead of `signal`: key of the question to answer. Payloads are contents of answers',
        ),
        choices: optional(choices, 'The possible answers. Required without `question`'),
        expiresIn: optional(durationField(MAX_LIFETIME_MS), 'How long the link can be used. Default: 24 hours'),
      })
      .check(
        z.refine((body) => KINDS.filter((kind) => kind in body).length === 1, {
          message: `must contain one of ${KINDS.join(', ')}`,
          when: ({ value }) => isObject(value),
        }),
        ...(['title', 'choices'] as const).map((name) =>
          z.refine((body) => isObject(body) && ('question' in body || name in body), {
            message: 'is required, unless the link is for a question',
            path: [name],
            when: ({ value }) => isObject(value),
          }),
        ),
      )
      .register(jsonForms, {
        if: { required: ['question'] },
        else: {
          required: ['title', 'choices'],
          if: { required: ['signal'] },
          else: { if: { required: ['update'] }, else: { required: ['complete'] } },
        },
        not: { anyOf: PAIRS },
      }),
    z.transform(({ signal, update, complete, choices, expiresIn = DAY_MS, ...shown }) => ({
      ...shown,
      kind: complete ? ('complete' as const) : update === undefined ? ('signal' as const) : ('update' as const),
      handler: signal ?? update ?? '',
      ...complete,
      ...(choices && { choices: choices.map(({ comment = 'none', ...rest }) => ({ ...rest, comment })) }),
      expiresInMs: expiresIn,
    })),
  ),
  isRequired: true,
} satisfies RequestBody<unknown>

/** JSON, or the form of the page. */
export const linkAnswer = {
  name: 'LinkAnswer',
  schema: z.strictObject({
    choice: shownText(MAX_LABEL_LENGTH, 'The label of the choice'),
    comment: optional(text, 'For a choice that takes one, at most 2000 characters'),
  }),
  isRequired: true,
  acceptsForm: true,
} satisfies RequestBody<unknown>
