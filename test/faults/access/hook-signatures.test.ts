/** Proofs of webhooks on a real engine: threat 33 of docs/access.md. */
import { expect } from 'vitest'
import type { Answer } from '../../support/api.ts'
import { type SignedScheme, signWebhook } from '../../support/sign-webhook.ts'
import { OPERATOR, tokenOf } from './callers.ts'
import { anId, HOOKS, SCHEMES, SECRETS, secretOf, test } from './hook-fixture.ts'

/** What every rejection has in common. */
const outcomeOf = ({ status, body }: Answer) => [status, body?.error, body?.message]

test('each scheme accepts what its sender signs, and nothing else (threat 33)', async ({ service }) => {
  const { deliver, send, lines } = service
  const hooks = { standard: 'both', stripe: 'stripe', github: 'github', slack: 'slack', token: 'token' } as const
  const accepted: number[] = []
  const rejected: unknown[][] = []
  for (const scheme of SCHEMES) {
    const hook = hooks[scheme]
    const event = { id: anId() }
    const body = JSON.stringify(event)
    const sign = signWebhook[scheme]
    const right = sign({ secret: secretOf(scheme), body })
    const others = SCHEMES.filter((other) => other !== scheme)
    const wrong: Record<string, string>[] = [
      {},
      sign({ secret: 'd3Jvbmc=', body }),
      ...Object.keys(right)
        .filter((name) => /signature|token/i.test(name))
        .map((name) => ({ ...right, [name]: '' })),
      ...others.map((other) => signWebhook[other]({ secret: secretOf(scheme), body })),
      { Authorization: `Bearer ${secretOf(scheme)}` },
      { Authorization: `Bearer ${OPERATOR}` },
      { Authorization: `Bearer ${tokenOf('ci')}` },
    ]
    for (const headers of wrong) rejected.push(outcomeOf(await deliver(hook, body, headers)))
    accepted.push((await send(hook, event)).status)
  }

  expect(accepted).toEqual(SCHEMES.map(() => 202))
  expect(new Set(rejected.map((outcome) => JSON.stringify(outcome))).size).toBe(1)
  expect(rejected[0]?.slice(0, 2)).toEqual([401, 'UnauthorizedError'])
  // Neither secrets nor signatures are logged (threat 28).
  expect(JSON.stringify(lines)).not.toMatch(/s3cret|c3RhbmRh|v1=|v0=|sha256=/)
})

test('an event counts for five minutes, if its sender signs a time (threat 33)', async ({ service }) => {
  const statusOf = async (hook: keyof typeof HOOKS, shift: number, forged: Record<string, string> = {}) => {
    const scheme = HOOKS[hook].scheme as SignedScheme
    const body = JSON.stringify({ id: anId() })
    const seconds = Math.floor(Date.now() / 1000) + shift
    const headers = signWebhook[scheme]({ secret: secretOf(scheme), body, seconds })
    return (await service.deliver(hook, body, { ...headers, ...forged })).status
  }
  const timed = ['both', 'stripe', 'slack'] as const
  const now = String(Math.floor(Date.now() / 1000))

  const fresh = await Promise.all(timed.flatMap((hook) => [statusOf(hook, -200), statusOf(hook, 200)]))
  const old = await Promise.all(timed.flatMap((hook) => [statusOf(hook, -400), statusOf(hook, 400)]))
  const forged = await Promise.all([
    statusOf('both', -400, { 'webhook-timestamp': now }),
    statusOf('slack', -400, { 'X-Slack-Request-Timestamp': now }),
  ])

  expect(fresh).toEqual(Array(6).fill(202))
  expect([...old, ...forged]).toEqual(Array(8).fill(401))
})

test('the signature is that of the bytes, not of their meaning (threat 33)', async ({ service }) => {
  const { deliver, resultOf } = service
  const id = anId()
  const body = `{ "id": "${id}", "price": 1.10, "n": 12345678901234567890, "text": "\\u00e9" }\n`
  const secret = SECRETS.SERVICE_HOOK_STRIPE
  const others = [
    JSON.stringify(JSON.parse(body)),
    body.trim(),
    body.replace('1.10', '1.1'),
    body.replace('\\u00e9', 'é'),
  ]

  const statuses = await Promise.all(
    others.map(async (other) => (await deliver('stripe', other, signWebhook.stripe({ secret, body }))).status),
  )
  const accepted = await deliver('stripe', body, signWebhook.stripe({ secret, body }))

  expect(statuses).toEqual(others.map(() => 401))
  expect(accepted.status).toBe(202)
  const { output } = await resultOf(`stripe:${id}`)
  expect(output).toMatchObject({ headers: {}, body: { id, price: 1.1, text: 'é' } })
})
