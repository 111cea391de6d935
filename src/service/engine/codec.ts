import { retryWithBackoff } from '../../shared/lib/abort.ts'
import { readText } from '../../shared/lib/read-text.ts'
import { type Codec, MAX_DOWNLOAD_BYTES, type Payload } from '../../shared/temporal/payload.ts'
import { fromPayloadJson, type PayloadJson, toPayloadJson } from '../../shared/temporal/payload-json.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { ServiceError } from '../model/errors.ts'

export interface RemoteCodecOptions {
  /** Base URL of `/encode`, `/decode` and `/download`: Temporal's remote codec protocol. */
  endpoint: string
  namespace: string
  fetch?: typeof globalThis.fetch
}

type Verb = 'decode' | 'download' | 'encode'

// The delay before each retry.
const BACKOFF_MS = [100, 300]

// A codec server without a store, or without this value in its store, responds with one of these.
const NOT_STORED: ReadonlySet<number> = new Set([400, 404, 405, 501])

// Base64 adds a third. The rest is for the JSON around the data.
const MAX_DOWNLOAD_RESPONSE_BYTES = MAX_DOWNLOAD_BYTES * 1.5

/**
 * A codec that calls a remote codec server, with the protocol of Temporal's own tools.
 *
 * https://docs.temporal.io/remote-data-encoding
 */
export function remoteCodec({ endpoint, namespace, fetch = globalThis.fetch }: RemoteCodecOptions): Codec {
  async function send(verb: Verb, payloads: Payload[], signal: AbortSignal): Promise<Response> {
    return fetch(`${endpoint.replace(/\/$/, '')}/${verb}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-namespace': namespace },
      body: JSON.stringify({ payloads: payloads.map(toPayloadJson) }),
      // workerd does not know 'error'. A redirect is rejected below, because its status is not 2xx.
      redirect: 'manual',
      signal,
    })
  }

  const transform = (verb: 'decode' | 'encode', payloads: Payload[]) =>
    retryCodec(verb, TIMEOUT_MS.codec, async (signal) => {
      const response = await send(verb, payloads, signal)
      await rejectFailure(response)
      return toPayloads(await response.json(), payloads.length)
    })

  return {
    encode: (payloads) => transform('encode', payloads),
    decode: (payloads) => transform('decode', payloads),
    download: (references) =>
      retryCodec('download', TIMEOUT_MS.codecDownload, async (signal) => {
        const response = await send('download', references, signal)
        if (NOT_STORED.has(response.status)) return discard(response)
        await rejectFailure(response)
        const body = await readText(response, MAX_DOWNLOAD_RESPONSE_BYTES)
        return body === null ? null : toPayloads(JSON.parse(body.text), references.length)
      }),
  }
}

/** No endpoint of a codec has side effects: every failure is retried. */
function retryCodec<T>(verb: Verb, timeoutMs: number, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(timeoutMs)
  function delayMs(error: unknown, retries: number): number {
    const backoffMs = BACKOFF_MS[retries]
    if (backoffMs === undefined || signal.aborted) throw codecError(verb, error)
    return backoffMs
  }
  return retryWithBackoff(() => act(signal), { delayMs, signal })
}

async function rejectFailure(response: Response): Promise<void> {
  if (response.ok) return
  await discard(response)
  throw new Error(`the codec server responded with status ${response.status}`)
}

function toPayloads(response: unknown, count: number): Payload[] {
  const { payloads } = response as { payloads?: PayloadJson[] }
  if (payloads?.length !== count)
    throw new Error(`the codec server returned ${payloads?.length ?? 'no'} payloads; expected ${count}`)
  return payloads.map(fromPayloadJson)
}

/** An unread body keeps its connection busy, and workerd has only six for a request. */
async function discard(response: Response): Promise<null> {
  await response.body?.cancel()
  return null
}

/** Callers remove `Retry-After` if the engine has carried out something before. */
function codecError(verb: Verb, cause: unknown): ServiceError {
  return new ServiceError('PayloadCodecError', `The codec server could not ${verb} the payloads.`, {
    cause: new Error('check ENGINE_CODEC_ENDPOINT', { cause }),
    details: { retryAfterSeconds: 1 },
  })
}
