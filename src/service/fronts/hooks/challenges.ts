/** How senders try out the URL of a hook. Each is answered only on hooks that name it, and starts nothing. */
import type { Context } from 'hono'
import type { Hook, Hooks } from '../../../shared/hooks/hooks.ts'
import { textAt } from '../../../shared/hooks/schemes.ts'
import { anyEqual, hmac, toBytes, toHex } from '../../../shared/lib/digest.ts'
import { type Env, jsonResponse, type RequestStep, respond } from '../../http/context.ts'
import { ServiceError } from '../../model/errors.ts'

/** The response to a GET, which proves nothing; null if it is not the challenge of the hook. */
export function answerToGet(c: Context<Env>, hook: Hook): Response | null {
  const [challenge = '', ofOkta = ''] = [c.req.query('challenge'), c.req.header('X-Okta-Verification-Challenge')]
  if (hook.challenge === 'hub') return answerToHub(c, hook)
  if (hook.challenge === 'query' && challenge !== '') return text(c, challenge)
  if (hook.challenge === 'okta' && ofOkta !== '') return jsonResponse(c, { verification: ofOkta })
  return null
}

function answerToHub(c: Context<Env>, { verifyTokens }: Hook): Response {
  const presented = c.req.query('hub.verify_token') ?? ''
  if (anyEqual([toBytes(presented)], verifyTokens.map(toBytes))) return text(c, c.req.query('hub.challenge') ?? '')
  throw new ServiceError('ForbiddenError', 'hub.verify_token is not that of this hook', { reason: 'verify token' })
}

/** The response to a POST that has no proof; null if it is an event. */
export function answerToUnproven(c: Context<Env>, { challenge }: Hook): Response | null {
  const token = c.req.query('validationToken') ?? ''
  return challenge === 'graph' && token !== '' ? text(c, token) : null
}

// Zoom's token is signed with the key of its events. No token can be what is signed for an event: `v0:…`.
const ZOOM_TOKEN = /^[\w-]{1,200}$/

/** The body of the response to a challenge that the sender has proven to be its own; null if it is an event. */
export async function answerToProven({ challenge }: Hook, event: unknown, secret: string): Promise<object | null> {
  const at = (pointer: string) => textAt(event, pointer)
  const zoomToken = at('/payload/plainToken')
  if (challenge === 'slack' && at('/type') === 'url_verification') return { challenge: at('/challenge') }
  if (challenge === 'eventgrid' && at('/0/eventType') === 'Microsoft.EventGrid.SubscriptionValidationEvent')
    return { validationResponse: at('/0/data/validationCode') }
  if (challenge === 'zoom' && at('/event') === 'endpoint.url_validation' && ZOOM_TOKEN.test(zoomToken)) {
    const mac = await hmac('sha256', toBytes(secret), toBytes(zoomToken))
    return { plainToken: zoomToken, encryptedToken: toHex(mac) }
  }
  return null
}

/**
 * Responds to the OPTIONS that a sender of CloudEvents sends before its events, which proves nothing:
 * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/http-webhook.md#4-abuse-protection
 */
export function answerCloudEvents(hooks: Hooks): RequestStep {
  return (c) => {
    const origin = c.req.header('WebHook-Request-Origin')
    const [, name] = /^\/hooks\/([^/]+)$/.exec(c.req.path) ?? []
    if (c.req.method !== 'OPTIONS' || origin === undefined || name === undefined) return undefined
    const hook = hooks.find(name)
    if (hook?.challenge !== 'cloudevents') return undefined
    c.get('facts').hook = hook.name
    return respond(c, null, 200, { Allow: 'POST', 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': '*' })
  }
}

/** What the sender has sent, as text that no browser takes for a page. */
function text(c: Context<Env>, sent: string): Response {
  return respond(c, sent, 200, { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' })
}
