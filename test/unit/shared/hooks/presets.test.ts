/** Schemes as data: what senders sign, with Node's crypto instead of the code under test. */
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { HookScheme } from '../../../../src/shared/hooks/hook-schemes.ts'
import { PRESETS, type PresetName, type SignatureScheme } from '../../../../src/shared/hooks/presets.ts'
import {
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
const NAMES = Object.keys(PRESETS) as PresetName[]
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

  test('a sample has the headers of the sender', async () => {
    const sample = await proofHeaders(proofOf(name, secret), { body: bytes(body), url }, NOW, 'id-1')
    const { 'X-GitHub-Event': _, ...own } = signed

    expect(sample).toEqual(own)
  })
})

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

test('hex in upper case is accepted', async () => {
  const headers = { 'Linear-Signature': mac('sha256', '{}').digest('hex').toUpperCase() }

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
  expect(await proofHeaders(proofOf('standard', 'aHVudGVyMg=='), { body: bytes('{}'), url }, NOW, 'm')).toEqual(decoded)
})

test('token: the id of an event is where the hook says, or else the hash of its body', async () => {
  const delivery = { header: reader({ 'Idempotency-Key': 'k1' }), body: bytes('{}'), url }
  const idOf = (id: Proof['id'], event: unknown = {}) =>
    eventIdOf({ ...proofOf('token', 's3cret'), ...(id && { id }) }, delivery, event)
  const hash = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'

  expect([
    await idOf({ header: 'Idempotency-Key' }),
    await idOf({ body: '/0/id' }, [{ id: 'a1' }]),
    await idOf({ body: '/id' }, { id: JSON.rawJSON('12345678901234567890') }),
    await idOf({ header: 'X-Other' }),
    await idOf({ body: '/id' }, { id: {} }),
    await idOf(undefined),
  ]).toEqual(['k1', 'a1', '12345678901234567890', hash, hash, null])
})
