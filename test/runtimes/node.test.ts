import { fileURLToPath } from 'node:url'
import type { Server } from '../conformance/api/stage.ts'
import { describeApi } from '../conformance/api.ts'
import { startProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

const ENTRY = fileURLToPath(new URL('../../src/runtime/node.ts', import.meta.url))

describeApi('Node', serveNode)

/** As `npm start` does. */
async function serveNode(env: Record<string, string>): Promise<Server> {
  let url: string | undefined
  const server = await startProcess({
    command: process.execPath,
    args: [ENTRY],
    env,
    onLine: (line) => {
      url ??= listeningAt(line)
    },
  })
  const died = new AbortController()
  void server.ended.then(({ code }) => died.abort(new Error(`The service ended with ${code}:\n${server.output()}`)))
  await until('the service listens', () => url !== undefined, { timeoutMs: 30_000, signal: died.signal })
  return { url: (url ?? '').replace('0.0.0.0', '127.0.0.1'), stop: async () => void (await server.stop(5000)) }
}

function listeningAt(line: string): string | undefined {
  const event: { message?: string; url?: string } = line.startsWith('{') ? JSON.parse(line) : {}
  return event.message === 'listening' ? event.url : undefined
}
