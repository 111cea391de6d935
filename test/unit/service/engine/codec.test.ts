import Long from 'long'
import { expect, test, vi } from 'vitest'
import { remoteCodec } from '../../../../src/service/engine/codec.ts'
import type { Payload } from '../../../../src/shared/temporal/payload.ts'
import { rejection } from '../../call.ts'

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

test('remoteCodec: does not follow redirects (threat 89)', async () => {
  const { codec, requests } = codecThat(
    () => new Response(null, { status: 307, headers: { location: 'http://elsewhere.test/' } }),
  )

  expect((await rejection(codec.decode([PAYLOAD]))).error).toBe('PayloadCodecError')
  expect(requests.map(({ redirect }) => redirect)).not.toContain('follow')
})

test('remoteCodec: fails after its timeout (threat 89)', async () => {
  vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(AbortSignal.abort())
  const silent = ({ signal }: Request) =>
    new Promise<Response>((_, reject) => {
      if (signal.aborted) reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason))
    })

  expect((await rejection(codecThat(silent).codec.decode([PAYLOAD]))).error).toBe('PayloadCodecError')
})

test('remoteCodec: makes three attempts', async () => {
  const answers = [
    new Response('no', { status: 503 }),
    new Response('no', { status: 500 }),
    Response.json({ payloads: [AS_JSON] }),
  ]
  const { codec, requests } = codecThat(() => answers.shift() ?? Response.error())

  expect(await codec.decode([PAYLOAD])).toHaveLength(1)
  expect(requests).toHaveLength(3)
  await rejection(codec.decode([PAYLOAD]))
  expect(requests).toHaveLength(6)
})

test('remoteCodec: cancels the body of an error response, which would keep its connection busy', async () => {
  const canceled: number[] = []
  const errorResponse = (status: number) =>
    new Response(new ReadableStream({ cancel: () => void canceled.push(status) }), { status })
  const codecs = [500, 404].map((status) => codecThat(() => errorResponse(status)).codec)

  await rejection(codecs[0]?.decode([PAYLOAD]) ?? Promise.resolve())
  await codecs[1]?.download?.([PAYLOAD])

  expect(canceled).toEqual([500, 500, 500, 404])
})

test('remoteCodec: every failure is PayloadCodecError and does not reveal the address of the codec (threat 89)', async () => {
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

  const errors = await Promise.all(answers.map((answer) => rejection(codecThat(answer).codec.decode([PAYLOAD]))))

  expect(errors).toEqual(
    answers.map(() => ({
      error: 'PayloadCodecError',
      message: 'The codec server could not decode the payloads.',
      retryAfterSeconds: 1,
    })),
  )
})

const REFERENCE: Payload = { ...PAYLOAD, externalPayloads: [{ sizeBytes: Long.fromNumber(9) }] }

test('remoteCodec: does not retry a download from a server without /download or without the value', async () => {
  for (const status of [400, 404, 405, 501]) {
    const { codec, requests } = codecThat(() => new Response('no', { status }))

    expect(await codec.download?.([REFERENCE])).toBeNull()
    expect(requests).toHaveLength(1)
  }
})

test('remoteCodec: a download that is too large counts as not stored (threat 89)', async () => {
  const chunk = new Uint8Array(1 << 20)
  let left = 49
  const endless = new ReadableStream({
    pull: (controller) => (left-- > 0 ? controller.enqueue(chunk) : controller.close()),
  })

  expect(await codecThat(() => new Response(endless)).codec.download?.([REFERENCE])).toBeNull()
})

test('remoteCodec: any other failure of a download is PayloadCodecError', async () => {
  const { codec } = codecThat(() => new Response('no', { status: 500 }))

  expect((await rejection(codec.download?.([REFERENCE]) ?? Promise.resolve())).error).toBe('PayloadCodecError')
})
