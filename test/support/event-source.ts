/** A client that is the npm package `eventsource`, in a process of its own. */
import { fileURLToPath } from 'node:url'
import { startProcess } from '../../dev/servers/process.ts'
import type { Sent } from './event-stream.ts'
import { CALLER_HEADERS } from './policy.ts'

const PROGRAM = fileURLToPath(new URL('event-source.mjs', import.meta.url))

export interface EventSourceClient {
  /** The events so far. The last one is `closed`, with the status after which the client does not connect again. */
  events: Sent[]
  kill(): Promise<unknown>
}

/** With a body it sends a POST. */
export async function startEventSource(url: string, body?: object): Promise<EventSourceClient> {
  const events: Sent[] = []
  const client = await startProcess({
    command: process.execPath,
    args: [PROGRAM, url, JSON.stringify(CALLER_HEADERS), ...(body === undefined ? [] : [JSON.stringify(body)])],
    onLine: (line) => {
      if (line.startsWith('{')) events.push(JSON.parse(line))
    },
  })
  return { events, kill: () => client.kill() }
}
