import { TIMEOUT_MS } from '../domain/deadlines.ts'
import { ServiceError } from '../domain/errors.ts'
import { sleep } from '../lib/abort.ts'
import { readText } from '../lib/read-text.ts'
import { MAX_DOWNLOAD_BYTES } from '../temporal/external-storage.ts'
import type { Payload } from '../temporal/payload.ts'
import { fromPayloadJson, type PayloadJson, toPayloadJson } from '../temporal/payload-json.ts'
import type { Codec } from '../temporal/payload-reader.ts'

export interface RemoteCodecOptions {
  /** Base URL of `/encode`, `/decode` and `/download`: Temporal's remote codec protocol. */
  endpoint: string
  namespace: string
  fetch?: typeof globalThis.fetch
}

const RETRY_AFTER_MS = [100, 300]

// A codec server without a store, or whose store does not have the value, answers with one of these.
const NOT_STORED: ReadonlySet<number> = new Set([400, 404, 405, 501])

// Base64 takes a third more; the rest is for what is around the data.
const MAX_DOWNLOAD_ANSWER_BYTES = MAX_DOWNLOAD_BYTES * 1.5

/**
 * Payloads encoded and decoded by a codec server, as Temporal's own tools ask it.
 *
 * https://docs.temporal.io/remote-data-encoding
 */
export function remoteCodec({ endpoint, namespace, fetch = globalThis.fetch }: RemoteCodecOptions): Codec {
  async function send(
    verb: 'decode' | 'download' | 'encode',
    payloads: Payload[],
    signal: AbortSignal,
  ): Promise<Response> {
    return fetch(`${endpoint.replace(/\/$/, '')}/${verb}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-namespace': namespace },
      body: JSON.stringify({ payloads: payloads.map(toPayloadJson) }),
      // 'error' is unknown to workerd; the answer of a redirect is refused below.
      redirect: 'manual',
      signal,
    })
  }

  const code = (verb: 'decode' | 'encode', payloads: Payload[]) =>
    retried(TIMEOUT_MS.codec, async (signal) => {
      const response = await send(verb, payloads, signal)
      await refuseFailure(response)
      return toPayloads(await response.json(), payloads.length)
    })

  return {
    encode: (payloads) => code('encode', payloads),
    decode: (payloads) => code('decode', payloads),
    download: (references) =>
      retried(TIMEOUT_MS.codecDownload, async (signal) => {
        const response = await send('download', references, signal)
        if (NOT_STORED.has(response.status)) return discard(response)
        await refuseFailure(response)
        const body = await readText(response, MAX_DOWNLOAD_ANSWER_BYTES)
        return body === null ? null : toPayloads(JSON.parse(body.text), references.length)
      }),
  }
}

/** No verb changes anything: a failure is retried, whatever it is. */
async function retried<T>(timeoutMs: number, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(timeoutMs)
  for (let attempt = 0; ; attempt++) {
    try {
      return await act(signal)
    } catch (error) {
      const restMs = RETRY_AFTER_MS[attempt]
      if (restMs === undefined || signal.aborted) throw failed(error)
      await sleep(restMs, signal)
    }
  }
}

async function refuseFailure(response: Response): Promise<void> {
  if (response.ok) return
  await discard(response)
  throw new Error(`the codec answered ${response.status}`)
}

function toPayloads(answer: unknown, count: number): Payload[] {
  const { payloads } = answer as { payloads?: PayloadJson[] }
  if (payloads?.length !== count) throw new Error(`the codec answered ${payloads?.length} payloads for ${count}`)
  return payloads.map(fromPayloadJson)
}

/** An unread body keeps its connection busy; workerd has six for a request. */
async function discard(response: Response): Promise<null> {
  await response.body?.cancel()
  return null
}

/** Nothing has been sent to the engine, or only read from it: the request may be repeated. What has changed something drops `Retry-After`. */
function failed(cause: unknown): ServiceError {
  return new ServiceError('PayloadCodecError', 'The payload codec failed.', {
    cause: new Error('look at ENGINE_CODEC_ENDPOINT', { cause }),
    details: { retryAfterSeconds: 1 },
  })
}
