import Long from 'long'
import { expect, test, vi } from 'vitest'
import { remoteCodec } from '../../../src/engine/codec.ts'
import { createPayloads } from '../../../src/engine/payloads.ts'
import type { Payload } from '../../../src/temporal/payload.ts'
import { refusal } from '../call.ts'

const PAYLOAD: Payload = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('1') }
const AS_JSON = { metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: 'MQ==' }

function codecThat(answer: (request: Request) => Response | Promise<Response>) {
  const requests: Request[] = []
  const codec = remoteCodec({
    endpoint: 'http://codec.test/v1/',
    namespace: 'orders',
    fetch: async (input, init) => {
      const request = new Request(input, init)
      requests.push(request.clone())
      return answer(request)
    },
  })
  return { codec, requests }
}

test('remoteCodec: asks as Temporal’s own tools do', async () => {
  const { codec, requests } = codecThat(() => Response.json({ payloads: [AS_JSON] }))

  await codec.encode([PAYLOAD])

  const [request] = requests
  expect([request?.method, request?.url]).toEqual(['POST', 'http://codec.test/v1/encode'])
  expect([request?.headers.get('content-type'), request?.headers.get('x-namespace')]).toEqual([
    'application/json',
    'orders',
  ])
  expect(await request?.json()).toEqual({ payloads: [AS_JSON] })
})

test('remoteCodec: decodes at its other place', async () => {
  const { codec, requests } = codecThat(() => Response.json({ payloads: [AS_JSON] }))

  const [payload] = await codec.decode([PAYLOAD])

  expect(requests[0]?.url).toBe('http://codec.test/v1/decode')
  expect(payload).toEqual({
    metadata: { encoding: new Uint8Array(Buffer.from('json/plain')) },
    data: new Uint8Array(Buffer.from('1')),
  })
})

test('remoteCodec: what it encoded is what the engine gets, and what it decoded is what callers see', async () => {
  const encrypted = { metadata: { encoding: btoa('binary/encrypted') }, data: btoa('secret') }
  const { codec } = codecThat((request) =>
    Response.json({ payloads: [request.url.endsWith('encode') ? encrypted : AS_JSON] }),
  )
  const payloads = createPayloads({ codec, maxBytes: 1000 })

  const encoded = await payloads.encode([1])

  expect(Buffer.from(encoded?.payloads?.[0]?.data ?? []).toString()).toBe('secret')
  expect(await payloads.decode(encoded?.payloads)).toEqual([1])
})

test('remoteCodec: a payload without data or metadata is an empty one', async () => {
  const { codec } = codecThat(() => Response.json({ payloads: [{}] }))

  expect(await codec.decode([{}])).toEqual([{ metadata: {}, data: new Uint8Array() }])
})

test('remoteCodec: follows no redirect', async () => {
  const { codec, requests } = codecThat(
    () => new Response(null, { status: 307, headers: { location: 'http://elsewhere.test/' } }),
  )

  expect((await refusal(codec.decode([PAYLOAD]))).error).toBe('PayloadCodecError')
  expect(requests.map(({ redirect }) => redirect)).not.toContain('follow')
})

test('remoteCodec: does not wait for ever', async () => {
  vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(AbortSignal.abort())
  const silent = ({ signal }: Request) =>
    new Promise<Response>((_, reject) => {
      if (signal.aborted) reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason))
    })

  expect((await refusal(codecThat(silent).codec.decode([PAYLOAD]))).error).toBe('PayloadCodecError')
})

test('remoteCodec: is called three times before it has failed', async () => {
  const answers = [
    new Response('no', { status: 503 }),
    new Response('no', { status: 500 }),
    Response.json({ payloads: [AS_JSON] }),
  ]
  const { codec, requests } = codecThat(() => answers.shift() ?? Response.error())

  expect(await codec.decode([PAYLOAD])).toHaveLength(1)
  expect(requests).toHaveLength(3)
  await refusal(codec.decode([PAYLOAD]))
  expect(requests).toHaveLength(6)
})

test('remoteCodec: leaves the body of no refusal unread, which would hold its connection', async () => {
  const canceled: number[] = []
  const refusing = (status: number) =>
    new Response(new ReadableStream({ cancel: () => void canceled.push(status) }), { status })
  const codecs = [500, 404].map((status) => codecThat(() => refusing(status)).codec)

  await refusal(codecs[0]?.decode([PAYLOAD]) ?? Promise.resolve())
  await codecs[1]?.download?.([PAYLOAD])

  expect(canceled).toEqual([500, 500, 500, 404])
})

test('remoteCodec: whatever goes wrong is PayloadCodecError, without a word of where the codec is', async () => {
  const answers = [
    () => Promise.reject(new TypeError('connect ECONNREFUSED codec.test')),
    () => new Response('no', { status: 500 }),
    () => new Response('no JSON'),
    () => Response.json(null),
    () => Response.json({}),
    () => Response.json({ payloads: [] }),
    () => Response.json({ payloads: [AS_JSON, AS_JSON] }),
    () => Response.json({ payloads: [null] }),
    () => Response.json({ payloads: [{ data: 'not base64!' }] }),
  ]

  const refusals = await Promise.all(answers.map((answer) => refusal(codecThat(answer).codec.decode([PAYLOAD]))))

  expect(refusals).toEqual(
    answers.map(() => ({ error: 'PayloadCodecError', message: 'The payload codec failed.', retryAfterSeconds: 1 })),
  )
})

test('remoteCodec: the log is told which variable to look at', async () => {
  const { codec } = codecThat(() => new Response('no', { status: 500 }))

  await expect(codec.encode([PAYLOAD])).rejects.toMatchObject({ cause: { message: 'check ENGINE_CODEC_ENDPOINT' } })
})

const REFERENCE: Payload = { ...PAYLOAD, externalPayloads: [{ sizeBytes: Long.fromNumber(9) }] }

test('remoteCodec: asks for what a reference stands for at a third place, with its size', async () => {
  const { codec, requests } = codecThat(() => Response.json({ payloads: [AS_JSON] }))

  const found = await codec.download?.([REFERENCE])

  expect(requests[0]?.url).toBe('http://codec.test/v1/download')
  expect(await requests[0]?.json()).toEqual({ payloads: [{ ...AS_JSON, externalPayloads: [{ sizeBytes: '9' }] }] })
  expect(found).toEqual([
    { metadata: { encoding: new Uint8Array(Buffer.from('json/plain')) }, data: new Uint8Array(Buffer.from('1')) },
  ])
})

test('remoteCodec: a reference that is decoded is still one', async () => {
  const { codec } = codecThat(() =>
    Response.json({ payloads: [{ ...AS_JSON, externalPayloads: [{ sizeBytes: '9' }] }] }),
  )

  expect(await codec.decode([PAYLOAD])).toMatchObject([{ externalPayloads: [{ sizeBytes: '9' }] }])
})

test('remoteCodec: a server that has no /download, or not the value, is asked once', async () => {
  for (const status of [400, 404, 405, 501]) {
    const { codec, requests } = codecThat(() => new Response('no', { status }))

    expect(await codec.download?.([REFERENCE])).toBeNull()
    expect(requests).toHaveLength(1)
  }
})

test('remoteCodec: more than may be held at once is as good as not there', async () => {
  const chunk = new Uint8Array(1 << 20)
  let left = 49
  const endless = new ReadableStream({
    pull: (controller) => (left-- > 0 ? controller.enqueue(chunk) : controller.close()),
  })

  expect(await codecThat(() => new Response(endless)).codec.download?.([REFERENCE])).toBeNull()
})

test('remoteCodec: a download that fails for another reason is PayloadCodecError', async () => {
  const { codec } = codecThat(() => new Response('no', { status: 500 }))

  expect((await refusal(codec.download?.([REFERENCE]) ?? Promise.resolve())).error).toBe('PayloadCodecError')
})
