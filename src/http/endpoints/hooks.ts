/** Webhooks of other systems: docs/hooks.md. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import { ServiceError } from '../../domain/model/errors.ts'
import { isObject } from '../../lib/json.ts'
import {
  decodeBody,
  FORM_TYPE,
  fromForm,
  isJsonType,
  mediaTypeOf,
  parseBody,
  requireIdentity,
  unsupportedType,
} from '../body.ts'
import type { Env } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import type { Hook } from '../hooks/hooks.ts'
import { eventHeaders, eventIdOf, isGenuine } from '../hooks/schemes.ts'
import { sendEvent, stepOf } from '../hooks/send-event.ts'
import { ref as schemaOf } from '../openapi/schemas/schema.ts'
import { jsonResponse, respond } from '../response.ts'
import { START_ERRORS } from './errors.ts'

export const hookEndpoint = endpoint({
  method: 'post',
  path: '/hooks/:hook',
  id: 'receiveWebhook',
  tag: 'Service',
  summary: 'Receive a webhook of another system',
  docs: 'webhooks',
  description: 'The policy defines the hooks. Each request carries its own proof, such as a signature of its body',
  body: { name: 'WebhookEvent', schema: z.unknown(), isRequired: true },
  responses: {
    200: {
      description: 'A repeated event. For Slack also: its challenge, or a form',
      schema: schemaOf('WebhookAnswer'),
    },
    202: { description: 'The engine has accepted the event', schema: schemaOf('WebhookAccepted') },
  },
  errors: ['UnauthorizedError', 'NotFoundError', ...START_ERRORS, 'ActivityNotFoundError', 'WorkflowNotRunningError'],
  takes: 'work',
  key: 'ignored',
  access: null,
  isOfService: true,
  async handle(c, { hooks, raw, call, workflows, defaultCatalog }) {
    const hook = findHook(c, hooks.find(c.req.param('hook') ?? ''))
    const header = (name: string) => c.req.header(name)
    const delivery = { header, body: await raw(c) }
    if (!(await isGenuine(hook, delivery, Date.now()))) throw notGenuine()
    const body = eventIn(c.req.raw.headers, delivery.body, hook)
    if (hook.scheme === 'slack' && isObject(body) && body.type === 'url_verification')
      return jsonResponse(c, { challenge: body.challenge })
    const id = await eventIdOf(hook.scheme, delivery, body)
    const { caller, send } = stepOf(hook, { id, body, headers: eventHeaders(hook.scheme, header) }, defaultCatalog)
    c.set('caller', caller)
    const run = await sendEvent({ send }, workflows, call(c))
    // Slack shows any other response to its user: https://docs.slack.dev/interactivity/handling-user-interaction
    if (hook.scheme === 'slack' && mediaTypeOf(c.req.raw.headers) === FORM_TYPE) return respond(c, '', 200, {})
    if (run === null) return jsonResponse(c, { duplicate: true })
    return jsonResponse(c, { workflowId: run.workflowId, runId: run.runId }, 202)
  },
})

function findHook(c: Context<Env>, hook: Hook | null): Hook {
  if (hook === null) throw new ServiceError('NotFoundError', 'The policy has no hook of this name')
  c.get('facts').hook = hook.name
  return hook
}

/** The message does not say what is wrong, because that would help to forge a request. */
function notGenuine(): ServiceError {
  return new ServiceError('UnauthorizedError', 'The request does not prove that it comes from the sender of this hook')
}

/** The value of a body: JSON, or an object with the fields of a form. */
function eventIn(headers: Headers, bytes: Uint8Array<ArrayBuffer>, { scheme }: Hook): unknown {
  const type = mediaTypeOf(headers)
  const isForm = type === FORM_TYPE
  if (!isForm && !isJsonType(type)) throw unsupportedType(type, `application/json or ${FORM_TYPE}`)
  requireIdentity(headers)
  const text = decodeBody(bytes)
  if (!isForm) return parseBody(text)
  const fields = fromForm(text)
  const { payload } = fields
  const hasDocument = typeof payload === 'string' && ['slack', 'github'].includes(scheme)
  return hasDocument ? { ...fields, payload: parseBody(payload) } : fields
}
