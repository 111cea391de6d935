import { ServiceError } from '../domain/errors.ts'
import { pause } from '../domain/pause.ts'
import { fromBase64, toBase64 } from './base64.ts'
import type { Codec, Payload } from './payload.ts'

export interface RemoteCodecOptions {
  /** Temporal's remote codec protocol is spoken at `<endpoint>/encode` and `<endpoint>/decode`. */
  endpoint: string
  namespace: string
  fetch?: typeof globalThis.fetch
}

// A codec is called in the middle of a request that has 5 s: all attempts together get this.
const TIMEOUT_MS = 2000

const RETRY_AFTER_MS = [100, 300]

/**
 * Payloads encoded and decoded by a codec server, as Temporal's own tools ask it.
 *
 * https://docs.temporal.io/remote-data-encoding
 */
export function remoteCodec({ endpoint, namespace, fetch = globalThis.fetch }: RemoteCodecOptions): Codec {
  async function ask(verb: 'decode' | 'encode', payloads: Payload[], signal: AbortSignal): Promise<Payload[]> {
    const response = await fetch(`${endpoint.replace(/\/$/, '')}/${verb}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-namespace': namespace },
      body: JSON.stringify({ payloads: payloads.map(toJson) }),
      // 'error' is unknown to workerd; the answer of a redirect is refused below.
      redirect: 'manual',
      signal,
    })
    if (!response.ok) throw new Error(`the codec answered ${response.status}`)
    const answer = ((await response.json()) as { payloads?: JsonPayload[] }).payloads
    if (answer?.length !== payloads.length) throw new Error(`the codec answered ${answer?.length} payloads for ${payloads.length}`)
    return answer.map(fromJson)
  }

  /** Neither verb changes anything: a failure is retried, whatever it is. */
  async function askAgain(verb: 'decode' | 'encode', payloads: Payload[]): Promise<Payload[]> {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    for (let attempt = 0; ; attempt++) {
      try {
        return await ask(verb, payloads, signal)
      } catch (error) {
        const restMs = RETRY_AFTER_MS[attempt]
        if (restMs === undefined || signal.aborted) throw failed(error)
        await pause(restMs, signal)
      }
    }
  }

  return {
    encode: (payloads) => askAgain('encode', payloads),
    decode: (payloads) => askAgain('decode', payloads),
  }
}

/** Nothing has been sent to the engine, or only read from it: the request may be repeated. What has changed something drops `Retry-After`. */
function failed(cause: unknown): ServiceError {
  return new ServiceError('PayloadCodecError', 'The payload codec failed.', {
    cause: new Error('look at ENGINE_CODEC_ENDPOINT', { cause }),
    details: { retryAfterSeconds: 1 },
  })
}

interface JsonPayload {
  metadata?: Record<string, string>
  data?: string
}

function toJson({ metadata, data }: Payload): JsonPayload {
  return { metadata: mapValues(metadata ?? {}, toBase64), data: toBase64(data ?? new Uint8Array()) }
}

function fromJson({ metadata, data }: JsonPayload): Payload {
  return { metadata: mapValues(metadata ?? {}, fromBase64), data: fromBase64(data ?? '') }
}

function mapValues<A, B>(record: Record<string, A>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
}
