/** The page of `examples/chat/`, on a port of its own. The page is static: any web server can serve it. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { freePort, listenErrorCode } from '../src/cli/dev/servers/ports.ts'

export interface ChatPage {
  /** Without the address of the API, which is a parameter: `?api=http://127.0.0.1:3001`. */
  url: string
  /** For `SERVICE_CORS_ORIGINS`. */
  origins: string
}

const PORT = 3002
const HOST = '127.0.0.1'
const PAGE = new URL('../examples/chat/index.html', import.meta.url)

/** Serves the page on port 3002, or on another one if that is in use, until the process ends or `signal` aborts. */
export async function serveChatPage(signal?: AbortSignal): Promise<ChatPage> {
  const port = (await listenErrorCode(PORT, HOST)) === null ? PORT : await freePort()
  const server = createServer(async (_, response) => {
    // Read for each request, so that a change is visible after a reload.
    const html = await readFile(PAGE)
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html)
  })
  server.listen({ port, host: HOST, signal })
  await once(server, 'listening')
  server.unref()
  return { url: `http://${HOST}:${port}/`, origins: `http://localhost:${port},http://${HOST}:${port}` }
}
