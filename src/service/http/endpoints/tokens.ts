/** Creates access tokens: docs/access.md, Access tokens. */
import * as z from 'zod/mini'
import { POLICY_NARROWED_VERBS, POLICY_OPTIONS, TOKEN_VERBS } from '../../../shared/access/policy-verbs.ts'
import { checkedString } from '../../../shared/wire/checked-string.ts'
import { patternIssue } from '../../../shared/wire/names.ts'
import { delegate } from '../../access/delegate.ts'
import { ServiceError } from '../../model/errors.ts'
import { jsonResponse } from '../context.ts'
import { MAX_TOKEN_CHARACTERS } from '../credentials/access-tokens.ts'
import { endpoint, type RequestBody } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { BODY_ERRORS } from './errors.ts'
import { durationField } from './fields/field-values.ts'
import { jsonForms, optional } from './fields/json-forms.ts'

const MAX_LIFETIME_MS = 24 * 3_600_000
const DEFAULT_LIFETIME_MS = 15 * 60_000

const MAX_ITEMS = 20

const PATTERN = '(?:[^*\\u0000]+\\*?|\\*)'

const pattern = checkedString(patternIssue).register(jsonForms, { pattern: `^${PATTERN}$` })

const right = checkedString((text) => {
  const [verb = '', handlers] = text.split(/:(.*)/s)
  const verbs: readonly string[] = handlers === undefined ? TOKEN_VERBS : POLICY_NARROWED_VERBS
  if (verbs.includes(verb)) return handlers === undefined ? null : patternIssue(handlers)
  return `must be one of ${TOKEN_VERBS.join(', ')}; ${POLICY_NARROWED_VERBS.join(', ')} may name a handler or a type of activities, as in signal:approve`
}).register(jsonForms, {
  pattern: `^(?:(?:${TOKEN_VERBS.join('|')})|(?:${POLICY_NARROWED_VERBS.join('|')}):${PATTERN})$`,
})

function listOf(item: z.ZodMiniType<string>) {
  return z.array(item).check(z.minLength(1), z.maxLength(MAX_ITEMS))
}

const tokenRequest = {
  name: 'TokenRequest',
  schema: z.strictObject({
    can: listOf(right).register(jsonForms, {
      description: 'What the token allows: verbs of the policy, without `delegate`, `link` and `metrics`',
    }),
    ids: optional(
      listOf(pattern),
      'Only for these workflow ids, exact or with a `*` at the end. Default: those of the creator',
    ),
    workflows: optional(listOf(pattern), 'Only for workflows with these names, in the same form. Default: the same'),
    options: optional(
      listOf(z.enum([...POLICY_OPTIONS, '*'])),
      'The start options that may be sent, and `headers` of messages; `*` for those of the creator. Default: none',
    ),
    expiresIn: optional(
      durationField(MAX_LIFETIME_MS),
      'How long it is valid: a number of milliseconds or a duration such as `15m`, at most 24 hours. Default 15 minutes',
    ),
  }),
  isRequired: true,
} satisfies RequestBody<unknown>

export const tokenEndpoint = endpoint({
  method: 'post',
  path: '/tokens',
  id: 'createToken',
  tag: 'Service',
  summary: 'Create an access token that allows less, for a browser',
  docs: 'api/service.md#tokens',
  body: tokenRequest,
  responses: {
    201: { description: 'The token', schema: schemaOf('AccessToken') },
  },
  errors: [...BODY_ERRORS, 'NotSupportedError', 'OverloadedError'],
  takes: 'work',
  key: 'rejected',
  access: 'delegate',
  async handle(c, { body, call, namespace, accessTokens }) {
    const caller = c.get('caller')
    if (accessTokens === null || caller === undefined) throw notSupported()
    const { expiresIn = DEFAULT_LIFETIME_MS, ...scope } = await body(c)
    const delegation = await delegate(caller, scope, namespace, call(c))
    const expiresAt = Date.now() + expiresIn
    const token = await accessTokens.seal({ ...delegation, expiresAt })
    if (token.length > MAX_TOKEN_CHARACTERS) throw tooLong()
    return jsonResponse(c, { token, expiresAt: new Date(expiresAt) }, 201)
  },
})

function notSupported(): ServiceError {
  const message =
    'Access tokens need SERVICE_SIGNING_KEY, and a service whose requests need a credential: SERVICE_API_AUTH_TOKEN or SERVICE_POLICY'
  return new ServiceError('NotSupportedError', message)
}

function tooLong(): ServiceError {
  const message = `The token would have more than ${MAX_TOKEN_CHARACTERS} characters; name fewer ids and workflows`
  return new ServiceError('ValidationError', message)
}
