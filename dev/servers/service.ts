/** The service as a process of its own, as `npm start` runs it. */
import { fileURLToPath } from 'node:url'
import { type Api, makeApi } from '../../test/support/api.ts'
import type { SeenAnswer } from '../../test/support/record.ts'
import { idleMarks } from '../../test/support/variables.ts'
import { type RunningProcess, startProcess } from './process.ts'
import { until } from './until.ts'

const ENTRY = fileURLToPath(new URL('../../src/runtime/node/index.ts', import.meta.url))

/** One line of its log. */
export interface LogEvent {
  level: string
  message: string
  [fact: string]: unknown
}

export interface Service extends Api, Pick<RunningProcess, 'pid' | 'ended' | 'stop' | 'kill'> {
  url: string
  /** Default catalog, and task queue. */
  catalog: string
  /** What it has logged so far. */
  events: readonly LogEvent[]
}

export interface ServiceOptions {
  /** Of the engine, `host:port`. */
  address: string
  catalog: string
  /** Wins over what is set here: everybody may call, at a port of the system's choice. */
  env?: Record<string, string>
  engine?: SeenAnswer['engine']
}

/** Resolves when it listens. */
export async function startService({ address, catalog, env, engine = 'real' }: ServiceOptions): Promise<Service> {
  const events: LogEvent[] = []
  const server = await startProcess({
    command: process.execPath,
    args: [ENTRY],
    env: idleMarks({
      PATH: process.env.PATH,
      SERVICE_PORT: '0',
      SERVICE_CATALOG_ID: catalog,
      ENGINE_ADDRESS: address,
      ...env,
    }),
    onLine: (line) => {
      if (line.startsWith('{')) events.push(JSON.parse(line))
    },
  })
  const died = new AbortController()
  void server.ended.then(({ code }) => died.abort(new Error(`The service ended with ${code}:\n${server.output()}`)))
  const listening = await until('the service listens', () => events.find(({ message }) => message === 'listening'), {
    timeoutMs: 30_000,
    signal: died.signal,
  })
  const url = String(listening.url)
  const { pid, ended, stop, kill } = server
  return { ...makeApi({ url, engine }), url, catalog, events, pid, ended, stop, kill }
}
