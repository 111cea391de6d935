/** Each kind of body that every endpoint with a body must reject, before it calls a verb. */
import { expect, test } from 'vitest'
import {
  expectEach,
  FORMS,
  type Form,
  facts,
  hasBody,
  INVALID,
  inParts,
  makeWalk,
  requestOf,
  TOO_LARGE,
  UNSUPPORTED,
} from './walk.ts'

// Those of JSON-RPC, of webhooks, of links and of a bulk have forms of their own.
const isPlain = (form: Form) => hasBody(form) && !/Mcp|Webhook|answerLink|bulk/.test(form.endpoint.id)
// Only a caller with a credential can create a token.
const auth = { tokens: ['s3cret'] }
const credential = { Authorization: 'Bearer s3cret' }
const json = { 'Content-Type': 'application/json', ...credential }
const encode = (text: string) => new TextEncoder().encode(text)

const ownOf = ({ endpoint }: Form) => Object(requestOf(endpoint)[2])

test('every body: another type than JSON, and one that is compressed, is a 415 (threat 48)', async () => {
  const types = ['text/plain', 'multipart/form-data', 'text/json', 'application/jsonp', '+json']
  const headers = [...types.map((type) => ({ ...json, 'Content-Type': type })), { ...json, 'Content-Encoding': 'gzip' }]

  await expectEach(makeWalk({ auth }), UNSUPPORTED, {
    is: isPlain,
    sent: () => headers.map((one) => ({ headers: one })),
  })
})

test('every body: what is not JSON, or not an object of the known fields, is a 400 (threats 28, 47, 50)', async () => {
  const deep = (levels: number) => `{"input":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  const broken = [
    '{',
    '{"x":s3cret}',
    'undefined',
    '{"x":01}',
    "{'x':1}",
    '{}}',
    ' ',
    '[]',
    'null',
    '"x"',
    '17',
    'true',
  ]
  const sent = (form: Form) => [
    ...[...broken, deep(1001), deep(100_000)].map((body) => ({ body })),
    ...['retires', 'toString', 'a/b~c'].map((key) => ({ body: { ...ownOf(form), [key]: 1 } })),
    { body: JSON.stringify(ownOf(form)).replace('{', '{"__proto__":{},').replace(',}', '}') },
  ]

  await expectEach(makeWalk({ auth }), INVALID, {
    is: isPlain,
    sent: (form) => sent(form).map((one) => ({ ...one, headers: credential })),
  })
})

test('every body: it is optional exactly where no field is required', async () => {
  const walk = makeWalk({ auth })
  const missing = FORMS.filter(isPlain).map(async (form) => {
    const { method, url } = inParts(form, undefined)
    const empty = await facts(await walk.fetch(new Request(url, { method, headers: credential })))
    return [form.endpoint.id, form.endpoint.body?.isRequired, empty[0] === 400]
  })

  expect((await Promise.all(missing)).filter(([, isRequired, isRejected]) => isRequired !== isRejected)).toEqual([])
})

/** What each endpoint with a body responds to these chunks, and how many of them it has read. */
async function answersTo(
  chunks: readonly (string | Uint8Array)[],
  headers: Record<string, string>,
  walk = makeWalk({ auth }),
) {
  const answers = FORMS.filter(isPlain).map(async (form) => {
    let read = 0
    const pull = (controller: ReadableStreamDefaultController) => {
      const chunk = chunks[read++]
      if (chunk === undefined) return controller.close()
      controller.enqueue(typeof chunk === 'string' ? encode(chunk) : chunk)
    }
    const found = await facts(await walk.fetch(inParts(form, pull, headers)))
    return `${[...found, read]}`
  })
  return [new Set(await Promise.all(answers)), walk.called] as const
}

const endless = Array.from({ length: 100 }, () => ' '.repeat(30))

test('every body: too large a one is a 413, by its Content-Length before it is read, and by its bytes (threat 45)', async () => {
  const small = () => makeWalk({ auth, maxBodyBytes: 100 })
  const chunked = { ...json, 'Content-Length': '13', 'Transfer-Encoding': 'chunked' }

  expect(await answersTo(endless, { ...json, 'Content-Length': '101' }, small())).toEqual([
    new Set([`${[...TOO_LARGE, 0]}`]),
    [],
  ])
  expect(await answersTo(endless, json, small())).toEqual([new Set([`${[...TOO_LARGE, 4]}`]), []])
  expect(await answersTo(endless, chunked, small())).toEqual([new Set([`${[...TOO_LARGE, 4]}`]), []])
})

test('every body: one of a wrong type is not read further than it must be', async () => {
  const text = { ...json, 'Content-Type': 'text/plain' }

  expect(await answersTo(endless, text)).toEqual([new Set([`${[...UNSUPPORTED, 1]}`]), []])
  expect(await answersTo(endless, { ...text, 'Content-Length': '1000' })).toEqual([
    new Set([`${[...UNSUPPORTED, 0]}`]),
    [],
  ])
})

test('every body: invalid UTF-8 is a 400, wherever it is (threat 47)', async () => {
  const invalid = [`${[...INVALID]}`]
  for (const chunks of [[new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])], ['{"payload":1}', new Uint8Array([0xc3])]])
    for (const headers of [
      json,
      { ...json, 'Content-Length': String(chunks.reduce((sum, { length }) => sum + length, 0)) },
    ]) {
      const [answers, called] = await answersTo(chunks, headers)
      expect([[...new Set([...answers].map((one) => one.replace(/,\d+$/, '')))], called]).toEqual([invalid, []])
    }
})

test('every body: one that stops half way is a 408 that closes the connection (threat 46)', async () => {
  const walk = makeWalk({ auth, bodyTimeoutMs: 20 })
  const stalled = FORMS.filter(isPlain).flatMap((form) =>
    [json, { ...json, 'Content-Length': '13' }].map(async (headers) => {
      let sent = false
      const pull = (controller: ReadableStreamDefaultController) => {
        if (sent) return new Promise<void>(() => {})
        sent = true
        controller.enqueue(encode('{"payload":'))
      }
      const response = await walk.fetch(inParts(form, pull, headers))
      return `${[...(await facts(response)), response.headers.get('Connection')]}`
    }),
  )

  expect([new Set(await Promise.all(stalled)), walk.called]).toEqual([new Set(['408,RequestTimeoutError,close']), []])
})
