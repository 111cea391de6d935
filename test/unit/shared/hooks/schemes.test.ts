import { describe, expect, test } from 'vitest'
import { type HookScheme, SCHEME_NAMES } from '../../../../src/shared/hooks/hook-schemes.ts'
import { eventHeaders, eventIdOf, type Proof, proofHeaders, provenBy } from '../../../../src/shared/hooks/schemes.ts'

const STRIPE_BODY = `{
  "id": "evt_123",
  "object": "event",
  "account": "acct_123",
  "api_version": "2017-05-25",
  "created": 1533204620,
  "data": {
    "object": {
      "id": "ii_123",
      "object": "invoiceitem",
      "amount": 1000,
      "currency": "usd",
      "customer": "cus_123",
      "date": 1533204620,
      "description": "Test Invoice Item",
      "discountable": false,
      "invoice": "in_123",
      "livemode": false,
      "metadata": {},
      "period": {
        "start": 1533204620,
        "end": 1533204620
      },
      "plan": null,
      "proration": false,
      "quantity": null,
      "subscription": null
    }
  },
  "livemode": false,
  "pending_webhooks": 1,
  "request": {
    "id": "req_123",
    "idempotency_key": "idempotency-key-123"
  },
  "type": "invoiceitem.created"
}
`

const SLACK_BODY = [
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V',
  'channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=',
  'response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN',
  'trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
].join('&')

interface Vector {
  scheme: HookScheme
  /** Where the signature was published. */
  from: string
  secret: string
  body: string
  seconds: number
  headers: Record<string, string>
}

const VECTORS: Vector[] = [
  {
    scheme: 'standard',
    from: 'https://docs.svix.com/receiving/verifying-payloads/how-manual',
    secret: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
    body: '{"event_type":"ping","data":{"success":true}}',
    seconds: 1731705121,
    headers: {
      'webhook-id': 'msg_loFOjxBNrRLzqYUf',
      'webhook-timestamp': '1731705121',
      'webhook-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
    },
  },
  {
    scheme: 'standard',
    from: 'the tests of the library standardwebhooks',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    seconds: 1614265330,
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
  },
  {
    scheme: 'stripe',
    from: 'EventUtilityTest.cs and event_test_signature.json of stripe/stripe-dotnet',
    secret: 'webhook_secret',
    body: STRIPE_BODY,
    seconds: 1533204620,
    headers: {
      'stripe-signature':
        't=1533204620,v1=f0bdba6d4eacbd8ad8a3bbadd7248e633ec1477f7899c124c51b39405fa36613,v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef',
    },
  },
  {
    scheme: 'github',
    from: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
    secret: "It's a Secret to Everybody",
    body: 'Hello, World!',
    seconds: 0,
    headers: {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
  },
  {
    scheme: 'slack',
    from: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    body: SLACK_BODY,
    seconds: 1531420618,
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
  },
]

const bytes = (text: string) => new TextEncoder().encode(text)

const SCHEMES = SCHEME_NAMES.filter((name): name is Extract<HookScheme, string> => name !== '')

const url = 'https://portico.example/hooks/h'

async function isGenuine(proof: Proof, delivery: Omit<Parameters<typeof provenBy>[1], 'url'>, ms: number) {
  return (await provenBy(proof, { url, ...delivery }, ms)) !== null
}

function reader(headers: Readonly<Record<string, string>>) {
  const all = new Headers(headers)
  return (name: string) => all.get(name) ?? undefined
}

function proofOf(scheme: HookScheme, ...secrets: string[]): Proof {
  return { scheme, secrets, header: 'Authorization' }
}

describe.each(VECTORS)('the signature of the scheme $scheme that $from publishes', (vector) => {
  const { scheme, secret, body, seconds, headers } = vector
  const verify = (changed: Partial<Vector> = {}, ms = seconds * 1000) => {
    const sent = { ...vector, ...changed }
    const delivery = { header: reader(sent.headers), body: bytes(sent.body) }
    return isGenuine(proofOf(scheme, sent.secret), delivery, ms)
  }

  test('is accepted', async () => {
    expect(await verify()).toBe(true)
  })

  test('is not accepted for another body, also one with the same meaning, and not with another secret (threat 33)', async () => {
    const others = [{ body: `${body} ` }, { body: body.slice(1) }, { body: '' }, { secret: secret.replace(/.$/, 'A') }]

    expect(await Promise.all(others.map((other) => verify(other)))).toEqual([false, false, false, false])
  })

  test('is not accepted without one of its headers, nor with a changed one (threat 33)', async () => {
    const names = Object.keys(headers)
    const without = names.map((name) => Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name)))
    const changed = names.map((name) => ({ ...headers, [name]: headers[name]?.replace(/\w(?=\W*$)/, '~') ?? '' }))

    const verdicts = await Promise.all([...without, ...changed].map((given) => verify({ headers: given })))

    // The last signature of Stripe is one of an older version.
    expect(verdicts).toEqual(verdicts.map((_, index) => scheme === 'stripe' && index === 1))
  })

  test('is accepted for five minutes before and after its time, if it has one (threat 33)', async () => {
    const shifts = [-301, -300, 300, 301]

    const verdicts = await Promise.all(shifts.map((shift) => verify({}, (seconds + shift) * 1000)))

    expect(verdicts).toEqual(scheme === 'github' ? [true, true, true, true] : [false, true, true, false])
  })
})

const NOW = 1_800_000_000_000

test.each(SCHEMES)('%s: what the sender signs is accepted, with each of several secrets', async (scheme) => {
  const body = bytes('{"a":1}')
  const secrets = ['whsec_b2xk', 'whsec_bmV3']
  const [old = {}, current = {}, other = {}] = await Promise.all(
    [...secrets, 'whsec_b3RoZXI='].map((secret) => proofHeaders(proofOf(scheme, secret), { body, url }, NOW)),
  )
  const verify = (headers: Record<string, string>, ...known: string[]) =>
    isGenuine(proofOf(scheme, ...known), { header: reader(headers), body }, NOW)

  expect(await Promise.all([old, current, other].map((headers) => verify(headers, ...secrets)))).toEqual([
    true,
    true,
    false,
  ])
  expect(await verify(old)).toBe(false)
})

test('one of several signatures is enough, as senders send while they replace a secret', async () => {
  const body = bytes('{}')
  const sign = (scheme: HookScheme, secret: string) =>
    proofHeaders(proofOf(scheme, secret), { body, url }, NOW, 'msg_1')
  const standard = [await sign('standard', 'old'), await sign('standard', 'new')]
  const both = standard.map((headers) => headers['webhook-signature']).join(' ')
  const stripe = [await sign('stripe', 'old'), await sign('stripe', 'new')]
  const list = stripe.map((headers) => headers['Stripe-Signature']?.replace(/^t=\d+,/, '')).join(',')

  const verdicts = await Promise.all([
    isGenuine(proofOf('standard', 'new'), { header: reader({ ...standard[0], 'webhook-signature': both }), body }, NOW),
    isGenuine(
      proofOf('stripe', 'new'),
      { header: reader({ 'Stripe-Signature': `t=${NOW / 1000},${list}` }), body },
      NOW,
    ),
  ])

  expect(verdicts).toEqual([true, true])
})

test("a whsec_ secret is base64 for the scheme standard only: Stripe's secrets are keys as they stand", async () => {
  const body = bytes('{}')
  const key = { scheme: 'standard' as const, header: '', secrets: ['old'] }
  const same = await proofHeaders(proofOf('standard', 'whsec_b2xk'), { body, url }, NOW, 'msg_1')
  const stripe = await proofHeaders(proofOf('stripe', 'whsec_b2xk'), { body, url }, NOW)

  expect(await isGenuine(key, { header: reader(same), body }, NOW)).toBe(true)
  expect(await isGenuine(proofOf('stripe', 'old'), { header: reader(stripe), body }, NOW)).toBe(false)
})

test('a token is accepted in Authorization, or in the header of the hook', async () => {
  const verify = (header: string, headers: Record<string, string>) =>
    isGenuine({ scheme: 'token', secrets: ['s3cret'], header }, { header: reader(headers), body: bytes('') }, NOW)

  expect([
    await verify('Authorization', { Authorization: 'Bearer s3cret' }),
    await verify('Authorization', { Authorization: `Basic ${btoa('alertmanager:s3cret')}` }),
    await verify('X-Gitlab-Token', { 'X-Gitlab-Token': 's3cret' }),
  ]).toEqual([true, true, true])
  expect([
    await verify('Authorization', { Authorization: 's3cret' }),
    await verify('Authorization', { 'X-Gitlab-Token': 's3cret' }),
    await verify('X-Gitlab-Token', { Authorization: 'Bearer s3cret' }),
    await verify('X-Gitlab-Token', { 'X-Gitlab-Token': 's3cre' }),
    await verify('X-Gitlab-Token', { 'X-Gitlab-Token': '' }),
    await verify('X-Gitlab-Token', {}),
  ]).toEqual(Array(6).fill(false))
})

test('the id of an event is that of its sender, or else the hash of its body', async () => {
  const hash = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
  const idOf = (scheme: HookScheme, headers: Record<string, string>, event: unknown = {}) =>
    eventIdOf(proofOf(scheme), { header: reader(headers), body: bytes('{}'), url }, event)

  expect([
    await idOf('standard', { 'webhook-id': 'msg_1' }, { id: 'x' }),
    await idOf('github', { 'X-GitHub-Delivery': '72d3162e' }, { id: 'x' }),
    await idOf('stripe', {}, { id: 'evt_1' }),
    await idOf('slack', {}, { event_id: 'Ev1' }),
    await idOf('stripe', {}, { id: 7 }),
    await idOf('slack', {}, []),
    await idOf('github', {}),
    await idOf('token', { 'webhook-id': 'msg_1' }, { id: 'evt_1' }),
  ]).toEqual(['msg_1', '72d3162e', 'evt_1', 'Ev1', '7', hash, hash, null])
})

test('workers get headers that describe the event, and neither signatures nor tokens (threat 72)', async () => {
  const sent = { 'X-GitHub-Event': 'push', Cookie: 'c', 'X-Slack-Retry-Num': '1' }

  const all = await Promise.all(
    SCHEMES.map(async (scheme) => {
      const proof = await proofHeaders(proofOf(scheme, 's3cret'), { body: bytes('{}'), url }, NOW, 'id-1')
      return [scheme, eventHeaders(proofOf(scheme), reader({ ...sent, ...proof }))]
    }),
  )

  expect(Object.fromEntries(all)).toEqual({
    ...Object.fromEntries(SCHEMES.map((scheme) => [scheme, {}])),
    standard: { 'webhook-id': 'id-1', 'webhook-timestamp': '1800000000' },
    github: { 'x-github-event': 'push', 'x-github-delivery': 'id-1' },
    slack: { 'x-slack-request-timestamp': '1800000000', 'x-slack-retry-num': '1' },
    shopify: { 'x-shopify-webhook-id': 'id-1' },
    linear: { 'linear-delivery': 'id-1' },
    bitbucket: { 'x-request-uuid': 'id-1' },
    jira: { 'x-atlassian-webhook-identifier': 'id-1' },
    sentry: { 'request-id': 'id-1' },
    zoom: { 'x-zm-request-timestamp': '1800000000' },
  })
})
