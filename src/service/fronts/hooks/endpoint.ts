/** Webhooks of other systems: docs/hooks.md. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import type { Hook } from '../../../shared/hooks/hooks.ts'
import { eventHeaders, eventIdOf, type Flaw, flawOf, isTimely, provenBy } from '../../../shared/hooks/schemes.ts'
import { type Env, jsonResponse, respond, setHeader } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { START_ERRORS } from '../../http/endpoints/errors.ts'
import { ref as schemaOf } from '../../http/openapi/schema.ts'
import { FORM_TYPE, mediaTypeOf } from '../../http/pipeline/body.ts'
import { ServiceError } from '../../model/errors.ts'
import { answerToGet, answerToProven, answerToUnproven } from './challenges.ts'
import { isWanted, readEvent } from './read-event.ts'
import { sendEvent, stepOf } from './send-event.ts'

export const hookEndpoint = endpoint({
  method: 'post',
  path: '/hooks/:hook',
  id: 'receiveWebhook',
  tag: 'Service',
  summary: 'Receive a webhook of another system',
  docs: 'hooks.md#responses',
  description: 'The policy defines the hooks. Each request carries its own proof, such as a signature of its body',
  body: { name: 'WebhookEvent', schema: z.unknown(), isRequired: true },
  responses: {
    200: {
      description: 'A repeated event, or one that the hook ignores; the answer to a challenge of the sender',
      schema: schemaOf('WebhookAnswer'),
      text: ['text/plain'],
      headers: ['X-Content-Type-Options'],
    },
    202: { description: 'The engine has accepted the event', schema: schemaOf('WebhookAccepted') },
  },
  errors: ['UnauthorizedError', 'NotFoundError', ...START_ERRORS, 'ActivityNotFoundError', 'WorkflowNotRunningError'],
  takes: 'work',
  key: 'ignored',
  access: null,
  isOfService: true,
  async handle(c, { hooks, proven, call, workflows, defaultCatalog }) {
    const hook = findHook(c, hooks.find(c.req.param('hook') ?? ''))
    const challenged = answerToUnproven(c, hook)
    if (challenged !== null) return challenged
    const header = (name: string) => c.req.header(name)
    // What the headers alone can reject takes no memory for a body.
    const flaw = flawOf(hook, header, Date.now())
    if (flaw !== null) throw notGenuine(flaw)
    const url = hook.url === null ? c.req.url : hook.url + new URL(c.req.url).search
    const found: { secret: string | null } = { secret: null }
    const bytes = await proven(c, async (body) => {
      found.secret = await provenBy(hook, { header, body, url }, Date.now())
      return found.secret !== null
    })
    if (bytes === null) throw notGenuine('signature')
    const body = readEvent(c.req.raw.headers, bytes, hook)
    if (!isTimely(hook, header, body, Date.now())) throw notGenuine('timestamp')
    const answer = await answerToProven(hook, body, found.secret ?? '')
    if (answer !== null) return jsonResponse(c, answer)
    if (!isWanted(hook, header, body)) {
      c.get('facts').ignored = true
      return jsonResponse(c, { ignored: true })
    }
    const id = await eventIdOf(hook, { header, body: bytes, url }, body)
    const { caller, send } = stepOf(hook, { id, body, headers: eventHeaders(hook, header) }, defaultCatalog)
    c.set('caller', caller)
    const run = await sendEvent({ send }, workflows, call(c))
    // Slack shows any other response to its user: https://docs.slack.dev/interactivity/handling-user-interaction
    if (hook.scheme === 'slack' && mediaTypeOf(c.req.raw.headers) === FORM_TYPE) return respond(c, '', 200, {})
    if (run === null) return jsonResponse(c, { duplicate: true })
    return jsonResponse(c, { workflowId: run.workflowId, runId: run.runId }, 202)
  },
})

export const challengeEndpoint = endpoint({
  method: 'get',
  path: '/hooks/:hook',
  id: 'answerChallenge',
  tag: 'Service',
  summary: 'Answer a sender of webhooks that tries out the URL of a hook',
  docs: 'hooks.md#challenges',
  description: 'Only for a hook that names such a challenge. Others take only POST',
  responses: {
    200: {
      description: 'What the sender has sent',
      schema: schemaOf('WebhookChallenge'),
      text: ['text/plain'],
      headers: ['X-Content-Type-Options'],
    },
  },
  errors: ['ForbiddenError', 'NotFoundError'],
  takes: 'nothing',
  key: 'ignored',
  access: null,
  isOfService: true,
  async handle(c, { hooks }) {
    const answer = answerToGet(c, findHook(c, hooks.find(c.req.param('hook') ?? '')))
    if (answer !== null) return answer
    setHeader(c, 'Allow', 'POST')
    throw new ServiceError('MethodNotAllowedError', 'Method GET is not allowed; use POST')
  },
})

function findHook(c: Context<Env>, hook: Hook | null): Hook {
  if (hook === null) throw new ServiceError('NotFoundError', 'The policy has no hook of this name')
  c.get('facts').hook = hook.name
  return hook
}

/** The message does not say what is wrong, because that would help to forge a request. */
function notGenuine(reason: Flaw): ServiceError {
  const message = 'The request does not prove that it comes from the sender of this hook'
  return new ServiceError('UnauthorizedError', message, { reason })
}
