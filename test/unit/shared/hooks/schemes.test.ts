/** Schemes as data: what senders sign, with Node's crypto instead of the code under test. */
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type HookScheme, SCHEME_NAMES } from '../../../../src/shared/hooks/hook-schemes.ts'
import { PRESETS, type PresetName, type SignatureScheme } from '../../../../src/shared/hooks/presets.ts'
import {
  eventHeaders,
  eventIdOf,
  flawOf,
  isTimely,
  type Proof,
  proofHeaders,
  provenBy,
} from '../../../../src/shared/hooks/schemes.ts'
import { signWebhook } from '../../../support/sign-webhook.ts'

const NOW = 1_800_000_000_000
const SECONDS = NOW / 1000
const SCHEMES = SCHEME_NAMES.filter((name): name is Extract<HookScheme, string> => name !== '')
const NAMES = Object.keys(PRESETS) as PresetName[]
/** Those that send the time in a header. */
const TIMED: PresetName[] = ['standard', 'stripe', 'slack', 'paddle', 'zoom', 'calendly']
const bytes = (text: string) => new TextEncoder().encode(text)
const url = 'https://portico.example/hooks/h?a=1'

function reader(headers: object) {
  const all = new Headers(Object.entries(headers))
  return (name: string) => all.get(name) ?? undefined
}

const proofOf = (scheme: HookScheme, ...secrets: string[]): Proof => ({ scheme, secrets, header: 'Authorization' })

function verify(proof: Proof, headers: object, body: string, ms = NOW) {
  return provenBy(proof, { header: reader(headers), body: bytes(body), url }, ms)
}

describe.each(NAMES)('%s', (name) => {
  const secret = name === 'standard' ? 'whsec_c3RhbmRhcmQtczNjcmV0' : 's3cret'
  const body = '{ "a": "é", "n": 12345678901234567890 }\n'
  const signed: Readonly<Record<string, string>> = signWebhook[name]({ secret, body, id: 'id-1', seconds: SECONDS })

  test('what the sender signs is accepted, in either case and without padding (threat 33)', async () => {
    expect(await verify(proofOf(name, 'other', secret), signed, body)).toBe(secret)
    const unpadded = Object.entries(signed).map(([header, value]) => [header, value.replace(/=+$/, '')])
    expect(await verify(proofOf(name, secret), Object.fromEntries(unpadded), body)).toBe(secret)
  })

  test('another body, secret or signature is not (threat 33)', async () => {
    const changed = Object.entries(signed).map(([header, value]) => ({
      ...signed,
      [header]: `${value.slice(0, -3)}000`,
    }))
    const wrong = [
      await verify(proofOf(name, secret), signed, `${body} `),
      await verify(proofOf(name, `${secret.slice(0, -4)}abcd`), signed, body),
      await verify(proofOf(name), signed, body),
      await verify(proofOf(name, secret), {}, body),
    ]

    expect(wrong).toEqual([null, null, null, null])
    // An id that is not signed can be changed.
    const verdicts = await Promise.all(changed.map((headers) => verify(proofOf(name, secret), headers, body)))
    expect(verdicts).toContain(null)
  })

  test('it is accepted for five minutes before and after its time, if it has one (threat 33)', async () => {
    const verdicts = [-301, -300, 300, 301].map((shift) =>
      verify(proofOf(name, secret), signed, body, NOW + shift * 1000),
    )

    const early = TIMED.includes(name) ? null : secret
    expect(await Promise.all(verdicts)).toEqual([early, secret, secret, early])
  })

  test('a sample has the headers of the sender', async () => {
    const sample = await proofHeaders(proofOf(name, secret), { body: bytes(body), url }, NOW, 'id-1')
    const { 'X-GitHub-Event': _, ...own } = signed

    expect(sample).toEqual(own)
  })
})

const STRIPE_EVENT = [
  '{"id":"evt_123","object":"event","account":"acct_123","api_version":"2017-05-25","created":1533204620,"data":{',
  '"object":{"id":"ii_123","object":"invoiceitem","amount":1000,"currency":"usd","customer":"cus_123",',
  '"date":1533204620,"description":"Test Invoice Item","discountable":false,"invoice":"in_123","livemode":false,',
  '"metadata":{},"period":{"start":1533204620,"end":1533204620},"plan":null,"proration":false,"quantity":null,',
  '"subscription":null}},"livemode":false,"pending_webhooks":1,"request":{"id":"req_123",',
  '"idempotency_key":"idempotency-key-123"},"type":"invoiceitem.created"}',
].join('')

const SLACK_BODY = [
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V',
  'channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=',
  'response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN',
  'trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
].join('&')

const STRIPE_V0 = 'v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef'
const STRIPE_V1 = 'v1=f0bdba6d4eacbd8ad8a3bbadd7248e633ec1477f7899c124c51b39405fa36613'

test.each<[PresetName, secret: string, seconds: number, body: string, headers: Record<string, string>]>([
  // https://docs.svix.com/receiving/verifying-payloads/how-manual
  [
    'standard',
    'whsec_plJ3nmyCDGBKInavdOK15jsl',
    1731705121,
    '{"event_type":"ping","data":{"success":true}}',
    {
      'webhook-id': 'msg_loFOjxBNrRLzqYUf',
      'webhook-timestamp': '1731705121',
      'webhook-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
    },
  ],
  // The tests of the library standardwebhooks.
  [
    'standard',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    1614265330,
    '{"test": 2432232314}',
    {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
  ],
  // EventUtilityTest.cs and event_test_signature.json of stripe/stripe-dotnet.
  [
    'stripe',
    'webhook_secret',
    1533204620,
    `${JSON.stringify(JSON.parse(STRIPE_EVENT), null, 2)}\n`,
    { 'stripe-signature': `t=1533204620,${STRIPE_V1},${STRIPE_V0}` },
  ],
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  [
    'github',
    "It's a Secret to Everybody",
    0,
    'Hello, World!',
    { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
  ],
  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  [
    'slack',
    '8f742231b10e8888abcd99yyyzzz85a5',
    1531420618,
    SLACK_BODY,
    {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
  ],
])(
  '%s: a published signature is accepted, and not with another secret or body, or when any header is changed or missing (threat 33)',
  async (name, secret, seconds, body, headers) => {
    const isAccepted = async (sent: object, text = body, key = secret) =>
      (await verify(proofOf(name, key), sent, text, seconds * 1000)) !== null
    const changed = Object.entries(headers).flatMap(([header, value]) => [
      Object.fromEntries(Object.entries(headers).filter(([name]) => name !== header)),
      // The last signature of Stripe is one of an older version.
      { ...headers, [header]: value.replace(STRIPE_V0, '').replace(/\w(?=\W*$)/, '~') },
    ])

    expect(await isAccepted(headers)).toBe(true)
    const verdicts = [
      ...changed.map((sent) => isAccepted(sent)),
      ...[`${body} `, body.slice(1), ''].map((text) => isAccepted(headers, text)),
      isAccepted(headers, body, secret.replace(/.$/, 'A')),
    ]
    expect(await Promise.all(verdicts)).toEqual(verdicts.map(() => false))
  },
)

test('a signature that Bitbucket has published is accepted', async () => {
  const signature = 'sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9'
  const secret = "It's a Secret to Everybody"

  expect(await verify(proofOf('bitbucket', secret), { 'X-Hub-Signature': signature }, 'Hello World!')).toBe(secret)
  expect(await verify(proofOf('bitbucket', secret), { 'X-Hub-Signature': signature }, 'Hello World?')).toBe(null)
})

const mac = (hash: string, text: string) => createHmac(hash, 's3cret').update(text)
const iso = new Date(NOW).toISOString()

const OBJECTS: [what: string, SignatureScheme, headers: Record<string, string>][] = [
  [
    'the time in another header, in milliseconds, with SHA-512',
    {
      hmac: 'sha512',
      signature: { header: 'X-Sig', prefix: 'v1=' },
      signed: '{timestamp}|{body}|end',
      timestamp: { header: 'X-Time', unit: 'ms', toleranceSeconds: 60 },
    },
    { 'X-Sig': `v1=${mac('sha512', `${NOW}|{}|end`).digest('hex')}`, 'X-Time': `${NOW}` },
  ],
  [
    'the id and the time, with a date (as Twitch signs)',
    {
      signature: { header: 'X-Sig', prefix: 'sha256=' },
      signed: '{id}{timestamp}{body}',
      timestamp: { header: 'X-Time', unit: 'iso' },
      id: { header: 'X-Id' },
    },
    { 'X-Sig': `sha256=${mac('sha256', `id-1${iso}{}`).digest('hex')}`, 'X-Time': iso, 'X-Id': 'id-1' },
  ],
  [
    'the URL (as Square signs)',
    { signature: { header: 'X-Sig', encoding: 'base64' }, signed: '{url}{body}' },
    { 'X-Sig': mac('sha256', `${url}{}`).digest('base64') },
  ],
  [
    'a list with semicolons and a prefix',
    {
      hmac: 'sha1',
      signature: { header: 'X-Sig', key: 's', prefix: 'x-', separator: ';', encoding: 'base64' },
      signed: '{body}.{timestamp}',
      timestamp: { header: 'X-Sig', key: 'at', separator: ';' },
    },
    { 'X-Sig': `at=${SECONDS};s=x-${mac('sha1', `{}.${SECONDS}`).digest('base64')}` },
  ],
]

test.each(OBJECTS)('an object says what a sender signs: %s', async (_what, scheme, headers) => {
  const proof = proofOf(scheme, 's3cret')

  expect(await verify(proof, headers, '{}')).toBe('s3cret')
  expect(await verify(proof, headers, '{} ')).toBe(null)
  expect(await proofHeaders(proof, { body: bytes('{}'), url }, NOW, 'id-1')).toEqual(headers)
  if (scheme.timestamp !== undefined) {
    const { toleranceSeconds = 300 } = scheme.timestamp
    expect(flawOf(proof, reader(headers), NOW + toleranceSeconds * 1000)).toBe(null)
    expect(flawOf(proof, reader(headers), NOW + toleranceSeconds * 1000 + 1000)).toBe('timestamp')
  }
})

test('hex in upper case and base64 of URLs are accepted', async () => {
  const headers = { 'Linear-Signature': mac('sha256', '{}').digest('hex').toUpperCase() }

  const [signature, body] = [mac('sha256', '{"n":0}').digest('base64url'), '{"n":0}']

  expect(signature).toMatch(/_.*-|-.*_/)
  expect(await verify(proofOf('shopify', 's3cret'), { 'X-Shopify-Hmac-Sha256': signature }, body)).toBe('s3cret')
  expect(await verify(proofOf('linear', 's3cret'), headers, '{}')).toBe('s3cret')
})

test('a time in the body must be recent (threat 33)', () => {
  const at = (webhookTimestamp: unknown) => isTimely(proofOf('linear'), reader({}), { webhookTimestamp }, NOW)

  expect([at(NOW), at(String(NOW)), at(NOW - 299_000), at(NOW + 299_000)]).toEqual([true, true, true, true])
  expect([at(NOW - 301_000), at(SECONDS), at(undefined), at('x'), at([NOW])]).toEqual(Array(5).fill(false))
  expect(isTimely(proofOf('github'), reader({}), {}, NOW)).toBe(true)
})

test('svix: its own header names, and its id', async () => {
  const secret = 'whsec_c3RhbmRhcmQtczNjcmV0'
  const signed = signWebhook.standard({ secret, body: '{}', id: 'msg_1', seconds: SECONDS })
  const headers = Object.fromEntries(
    Object.entries(signed).map(([name, value]) => [name.replace('webhook-', 'svix-'), value]),
  )
  const delivery = { header: reader(headers), body: bytes('{}'), url }

  expect(await provenBy(proofOf('standard', secret), delivery, NOW)).toBe(secret)
  expect(await eventIdOf(proofOf('standard', secret), delivery, {})).toBe('msg_1')
  expect(flawOf(proofOf('standard', secret), delivery.header, NOW + 400_000)).toBe('timestamp')
})

test('standard: a secret without whsec_ is the key itself or its base64, and v1, before it does not count', async () => {
  const sign = (key: string | Buffer) => {
    const text = createHmac('sha256', key).update(`m.${SECONDS}.{}`).digest('base64')
    return { 'webhook-id': 'm', 'webhook-timestamp': String(SECONDS), 'webhook-signature': `v1,${text}` }
  }
  const isAccepted = async (secret: string, headers: object) =>
    (await verify(proofOf('standard', secret), headers, '{}')) !== null
  const decoded = sign(Buffer.from('hunter2'))

  expect([
    await isAccepted('aHVudGVyMg==', decoded),
    await isAccepted('aHVudGVyMg', decoded),
    await isAccepted('aHVudGVyMg==', sign('aHVudGVyMg==')),
    await isAccepted('hunter2 !', sign('hunter2 !')),
    await isAccepted('v1,whsec_aHVudGVyMg==', decoded),
    await isAccepted('v1,aHVudGVyMg==', decoded),
  ]).toEqual(Array(6).fill(true))
  expect([
    await isAccepted('whsec_aHVudGVyMg==', sign('aHVudGVyMg==')),
    await isAccepted('aHVudGVyMw==', decoded),
    await isAccepted('whsec_', decoded),
  ]).toEqual([false, false, false])
  expect(
    await verify(
      proofOf('stripe', 'hunter2'),
      signWebhook.stripe({ secret: 'aHVudGVyMg==', body: '{}', seconds: SECONDS }),
      '{}',
    ),
  ).toBe(null)
  expect(await proofHeaders(proofOf('standard', 'aHVudGVyMg=='), { body: bytes('{}'), url }, NOW, 'm')).toEqual(decoded)
})

test('one of several signatures is enough, as senders send while they replace a secret', async () => {
  const sign = (scheme: HookScheme, secret: string) =>
    proofHeaders(proofOf(scheme, secret), { body: bytes('{}'), url }, NOW, 'msg_1')
  const standard = [await sign('standard', 'old'), await sign('standard', 'new')]
  const both = standard.map((headers) => headers['webhook-signature']).join(' ')
  const stripe = [await sign('stripe', 'old'), await sign('stripe', 'new')]
  const list = stripe.map((headers) => headers['Stripe-Signature']?.replace(/^t=\d+,/, '')).join(',')

  expect([
    await verify(proofOf('standard', 'new'), { ...standard[0], 'webhook-signature': both }, '{}'),
    await verify(proofOf('stripe', 'new'), { 'Stripe-Signature': `t=${SECONDS},${list}` }, '{}'),
  ]).toEqual(['new', 'new'])
})

test('token: the secret is in Authorization, or in the header of the hook', async () => {
  const isAccepted = async (header: string, headers: object) =>
    (await verify({ scheme: 'token', secrets: ['old', 's3cret'], header }, headers, '')) !== null

  expect([
    await isAccepted('Authorization', { Authorization: 'Bearer s3cret' }),
    await isAccepted('Authorization', { Authorization: `Basic ${btoa('alertmanager:s3cret')}` }),
    await isAccepted('X-Gitlab-Token', { 'X-Gitlab-Token': 's3cret' }),
  ]).toEqual([true, true, true])
  expect([
    await isAccepted('Authorization', { Authorization: 's3cret' }),
    await isAccepted('Authorization', { 'X-Gitlab-Token': 's3cret' }),
    await isAccepted('X-Gitlab-Token', { Authorization: 'Bearer s3cret' }),
    await isAccepted('X-Gitlab-Token', { 'X-Gitlab-Token': 's3cre' }),
    await isAccepted('X-Gitlab-Token', { 'X-Gitlab-Token': '' }),
    await isAccepted('X-Gitlab-Token', {}),
  ]).toEqual(Array(6).fill(false))
})

const HASH = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'

test.for<[string, HookScheme, headers: object, event: unknown, id: string | null, source?: Proof['id']]>([
  ['that of its sender', 'standard', { 'webhook-id': 'msg_1' }, { id: 'x' }, 'msg_1'],
  ['in a header', 'github', { 'X-GitHub-Delivery': '72d3162e' }, { id: 'x' }, '72d3162e'],
  ['in the body', 'stripe', {}, { id: 'evt_1' }, 'evt_1'],
  ['at another place in the body', 'slack', {}, { event_id: 'Ev1' }, 'Ev1'],
  ['a number', 'stripe', {}, { id: 7 }, '7'],
  ['the hash of a body without one', 'slack', {}, [], HASH],
  ['the hash without the header', 'github', {}, {}, HASH],
  ['unknown for a token', 'token', { 'webhook-id': 'msg_1' }, { id: 'evt_1' }, null],
  [
    'where the hook of a token says: a header',
    'token',
    { 'Idempotency-Key': 'k1' },
    {},
    'k1',
    { header: 'Idempotency-Key' },
  ],
  ['where the hook of a token says: the body', 'token', {}, [{ id: 'a1' }], 'a1', { body: '/0/id' }],
  ['exact', 'token', {}, { id: JSON.rawJSON('12345678901234567890') }, '12345678901234567890', { body: '/id' }],
  ['the hash without the header that the hook names', 'token', {}, {}, HASH, { header: 'X-Other' }],
  ['the hash if it is no text', 'token', {}, { id: {} }, HASH, { body: '/id' }],
])('the id of an event is %s', async ([, scheme, headers, event, expected, source]) => {
  const proof = { ...proofOf(scheme, 's3cret'), ...(source && { id: source }) }

  expect(await eventIdOf(proof, { header: reader(headers), body: bytes('{}'), url }, event)).toBe(expected)
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
