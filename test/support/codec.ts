/** A payload codec, as a server: Temporal's remote codec protocol, spoken for real. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Payload, PayloadCodec } from '@temporalio/common'

export interface CodecServer {
  /** Its endpoint is any path below. */
  url: string
  /** From now on it answers with this status and nothing of use, `times` times. */
  fail(status: number, times?: number): void
  /** Calls from now on get no answer until the returned function is called. */
  hang(): () => void
  /** The namespace of each call. */
  namespaces: readonly string[]
  /** The number of failed calls since the last `fail`. */
  failed(): number
  close(): Promise<void>
}

export interface CodecOptions {
  /** It encrypts each payload, as `opaque` does; else it changes nothing. */
  opaque?: boolean
  /**
   * What the store has in the places of references: `/download`, which without it is 404. Where this throws it is 400.
   */
  download?: (references: JsonPayload[]) => Payload[]
}

export async function startCodec({ opaque: isOpaque = false, download }: CodecOptions = {}): Promise<CodecServer> {
  let failure = { status: 200, times: 0 }
  let failed = 0
  let hanging: Promise<void> | null = null
  const namespaces: string[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    namespaces.push(String(request.headers['x-namespace']))
    await hanging
    const fails = failure.times > 0
    if (fails) {
      failure.times--
      failed++
    }
    const isDownload = !fails && request.url?.endsWith('/download')
    const { status, answer } = isDownload ? downloaded(download, body) : { status: 200, answer: body }
    response.writeHead(fails ? failure.status : status, { 'content-type': 'application/json' })
    response.end(isOpaque && !fails && !isDownload ? translated(request, body) : answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail(status, times = Number.POSITIVE_INFINITY) {
      failure = { status, times }
      failed = 0
    },
    hang() {
      const { promise, resolve } = Promise.withResolvers<void>()
      hanging = promise
      return () => {
        hanging = null
        resolve()
      }
    },
    namespaces,
    failed: () => failed,
    async close() {
      if (!server.listening) return
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const ENCODING = 'binary/opaque'

export interface JsonPayload {
  metadata: Record<string, string>
  data: string
  externalPayloads?: { sizeBytes?: string }[]
}

/** For workers: what such a server makes of their payloads. */
export const opaque: PayloadCodec = {
  encode: async (payloads) => payloads.map((payload) => fromJson(wrap(toJson(payload)))),
  decode: async (payloads) => payloads.map((payload) => fromJson(unwrap(toJson(payload)))),
}

function translated({ url }: IncomingMessage, body: string): string {
  const { payloads } = JSON.parse(body) as { payloads: JsonPayload[] }
  return JSON.stringify({ payloads: payloads.map(url?.endsWith('/encode') ? wrap : unwrap) })
}

/** What was stored, decoded. */
function downloaded(download: CodecOptions['download'], body: string): { status: number; answer: string } {
  if (download === undefined) return { status: 404, answer: 'no such path' }
  try {
    const { payloads } = JSON.parse(body) as { payloads: JsonPayload[] }
    return {
      status: 200,
      answer: JSON.stringify({ payloads: download(payloads).map((payload) => unwrap(toJson(payload))) }),
    }
  } catch (error) {
    return { status: 400, answer: String(error) }
  }
}

// Random, so that no payload is encoded twice in the same way.
const IV_BYTES = 12
const TAG_BYTES = 16
const KEY = Buffer.alloc(32, 7)

function wrap(payload: JsonPayload): JsonPayload {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', KEY, iv)
  const encrypted = [cipher.update(JSON.stringify(payload)), cipher.final()]
  return {
    metadata: { encoding: btoa(ENCODING) },
    data: base64(Buffer.concat([iv, cipher.getAuthTag(), ...encrypted])),
  }
}

function unwrap(payload: JsonPayload): JsonPayload {
  if (payload.metadata.encoding !== btoa(ENCODING)) return payload
  const bytes = Buffer.from(payload.data, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', KEY, bytes.subarray(0, IV_BYTES))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  return JSON.parse(
    `${decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8')}${decipher.final('utf8')}`,
  )
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const entries = Object.entries(metadata ?? {}).map(([key, value]) => [key, base64(value)])
  return { metadata: Object.fromEntries(entries), data: base64(data ?? new Uint8Array()) }
}

function fromJson({ metadata, data }: JsonPayload): Payload {
  const entries = Object.entries(metadata).map(([key, value]) => [key, Buffer.from(value, 'base64')])
  return { metadata: Object.fromEntries(entries), data: Buffer.from(data, 'base64') }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
