/** Many runs that are waited for at once, on an engine of their own. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Answer, type Api, makeApi, seen } from '../../test/support/api.ts'
import { testCatalog } from '../../test/support/test-catalog.ts'
import { startWorker } from '../../test/support/worker.ts'
import { type RunningEngine, startEngine } from './engine.ts'
import { openPolls } from './engine-metrics.ts'
import type { Inventory } from './observed-service.ts'
import { startProcess } from './process.ts'
import { until } from './until.ts'

const ENTRY = fileURLToPath(new URL('./observed-service.ts', import.meta.url))
const CATALOG = 'waiting'

export interface WaitingStage {
  api: Api
  url: string
  engine: RunningEngine
  /** All that the service printed. */
  lines: readonly string[]
  inventory(): Promise<Inventory>
  /** Starts so many runs, and resolves when the engine holds their polls. */
  wait(count: number): Promise<Waiting>
  stop(): Promise<void>
}

export interface Waiting {
  workflowIds: string[]
  /** Ends them all; their answers, in the order of the ids. */
  finish(): Promise<Answer[]>
}

export async function setWaitingStage(): Promise<WaitingStage> {
  const engine = await startEngine()
  const worker = await startWorker({ address: engine.address, taskQueue: CATALOG, catalog: testCatalog })
  const lines: string[] = []
  const service = await startProcess({
    command: process.execPath,
    args: ['--expose-gc', ENTRY],
    env: { PATH: process.env.PATH, SERVICE_PORT: '0', SERVICE_CATALOG_ID: CATALOG, ENGINE_ADDRESS: engine.address },
    onLine: (line) => void lines.push(line),
  })
  const url = await until('the service listens', () => /"url":"([^"]+)"/.exec(lines.join('\n'))?.[1])
  const api = makeApi({ url })
  await until('the catalog is published', async () => (await api.call('GET', '/workflow/catalog')).status === 200)

  async function signalFinish(id: string, isAnswered: (id: string) => boolean): Promise<void> {
    // What was answered early has failed: its answer says how.
    const sent = async () =>
      isAnswered(id) || (await api.call('POST', `/workflow/${id}/signal/finish`, { payload: id })).status === 200
    await until(`${id} takes its signal`, sent, { timeoutMs: 60_000 })
  }

  return {
    api,
    url,
    engine,
    lines,

    async inventory() {
      const seen = lines.length
      process.kill(service.pid, 'SIGUSR2')
      const line = await until('the service tells', () => lines.slice(seen).find((it) => it.includes('"inventory"')))
      return JSON.parse(line)
    },

    async wait(count) {
      const workflowIds = Array.from({ length: count }, (_, number) => `waiting-${number}-${crypto.randomUUID()}`)
      const answers = workflowIds.map((workflowId) =>
        runAlone(url, { workflowName: 'waitForSignal', workflowId, input: null, timeout: '5m' }),
      )
      const answered = new Set<string>()
      for (const [index, answer] of answers.entries()) {
        const done = () => void answered.add(workflowIds[index] ?? '')
        answer.then(done, done) // told by finish()
      }
      // A poll is made anew every 20 s: at no moment are all of them there.
      const isWaiting = async () => (await openPolls(engine.metricsUrl)) >= count * 0.95
      await until(`${count} runs are waited for`, isWaiting, { timeoutMs: 90_000, everyMs: 250 })
      return {
        workflowIds,
        async finish() {
          // All at once they would take this engine longer than a signal's answer may.
          for (let at = 0; at < count; at += 25) {
            await Promise.all(workflowIds.slice(at, at + 25).map((id) => signalFinish(id, (it) => answered.has(it))))
          }
          return Promise.all(answers)
        },
      }
    },

    async stop() {
      await service.kill()
      await worker.stop()
      await engine.kill()
    },
  }
}

/** On a connection that is closed with the answer: fetch keeps its own for as long as the server allows. */
async function runAlone(url: string, body: object): Promise<Answer> {
  const sent = request(`${url}/workflow/run`, {
    method: 'POST',
    agent: false,
    headers: { 'Content-Type': 'application/json' },
  })
  sent.end(JSON.stringify(body))
  const [response]: IncomingMessage[] = await once(sent, 'response')
  if (response === undefined) throw new Error('no response')
  const json = await text(response)
  const headers = new Headers(
    Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const answer = { status: response.statusCode ?? 0, headers, text: json, body: JSON.parse(json) }
  seen('POST', '/workflow/run', answer)
  return answer
}
