/** Upstash's REST protocol before a real Redis, as far as clients of ours use it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Redis } from 'ioredis'

export interface UpstashServer {
  url: string
  token: string
  close(): Promise<void>
}

const TOKEN = 'upstash-to-ken'

export async function startUpstash(redisUrl: string): Promise<UpstashServer> {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: 0, enableOfflineQueue: true })
  redis.on('error', () => {})
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return answer(401, { error: 'Unauthorized' })
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = JSON.parse(Buffer.concat(chunks).toString())
    const isBase64 = request.headers['upstash-encoding'] === 'base64'
    const run = async ([name, ...args]: string[]) => {
      try {
        const result = await redis.call(String(name), ...args)
        return { status: 200, body: { result: isBase64 ? encoded(result) : result } }
      } catch (error) {
        if (!(error instanceof Error)) throw error
        const message = `${error.message}, command was: ${args.join(' ')}`
        return { status: error.name === 'ReplyError' ? 400 : 500, body: { error: message } }
      }
    }
    if (request.url === '/pipeline') {
      const results = await Promise.all(body.map(run))
      return answer(
        200,
        results.map((result) => result.body),
      )
    }
    const single = await run(body)
    answer(single.status, single.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: TOKEN,
    async close() {
      redis.disconnect()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** What Upstash's own client asks for, so that it can carry any bytes. */
function encoded(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(encoded)
  return typeof result === 'string' && result !== 'OK' ? Buffer.from(result).toString('base64') : result
}
