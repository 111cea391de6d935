/** A way to an S3 server on which things go wrong. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface S3Fault {
  status?: number
  /** S3's own word, in its XML. */
  code?: string
  headers?: Record<string, string>
  /** The answer of the real server is cut after so many bytes. */
  cutAt?: number
  /** Never answered. */
  hangs?: boolean
  /** The ETag of the answer becomes a weak one, as by a proxy that compresses. */
  weakensEtag?: boolean
  /** The only method that meets it; all when absent. */
  method?: 'GET' | 'PUT'
  /** How many requests meet it; all when absent. */
  times?: number
}

export interface S3Proxy {
  endpoint: string
  /** Method and path of the received requests, in order. */
  requests: string[]
  fail(fault: S3Fault | null): void
  close(): Promise<void>
}

export async function startS3Proxy(target: string): Promise<S3Proxy> {
  const { hostname, port } = new URL(target)
  const requests: string[] = []
  let fault: S3Fault | null = null
  let left = 0

  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    const isMeant = fault?.method === undefined || fault.method === request.method
    const met = isMeant && left-- > 0 ? fault : null
    if (met?.hangs) return
    if (met?.status !== undefined) return reject(request, response, met)
    // The signature includes the host, so the header is forwarded unchanged.
    const forwarded = send(
      { hostname, port, path: request.url, method: request.method, headers: request.headers },
      (answer) => {
        const { etag } = answer.headers
        const weak = met?.weakensEtag && etag !== undefined ? { etag: `W/${etag}` } : {}
        response.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...weak })
        if (met?.cutAt === undefined) return answer.pipe(response)
        const { cutAt } = met
        return answer.once('data', (chunk: Buffer) =>
          response.write(chunk.subarray(0, cutAt), () => response.destroy()),
        )
      },
    )
    forwarded.on('error', () => response.destroy())
    request.pipe(forwarded)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    fail(next) {
      fault = next
      left = next?.times ?? Number.POSITIVE_INFINITY
      requests.length = 0
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function reject(
  request: IncomingMessage,
  response: ServerResponse,
  { status = 500, code, headers = {} }: S3Fault,
): void {
  request.resume()
  const body = code === undefined ? '' : `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`
  response.writeHead(status, { 'content-type': 'application/xml', ...headers }).end(body)
}
