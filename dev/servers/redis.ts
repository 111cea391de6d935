/** Redis as a child process. */
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { haveRedis } from './components.ts'
import { freePort } from './ports.ts'
import { startProcess } from './process.ts'
import { until } from './until.ts'

export interface RunningRedis {
  /** `redis://…`, with its password. */
  url: string
  port: number
  /** SIGKILL: what it held is gone. */
  kill(): Promise<void>
  /** After `kill`: an empty one on the same port. */
  restart(): Promise<RunningRedis>
}

const PASSWORD = 'redis-pass-word'

/** A Redis in memory, on a free port. It ends with this process, however that ends. */
export async function startRedis(port?: number): Promise<RunningRedis> {
  const chosen = port ?? (await freePort())
  const args = [
    '--port',
    `${chosen}`,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--requirepass',
    PASSWORD,
  ]
  const server = await startProcess({ command: await haveRedis(), args })
  const died = new AbortController()
  void server.ended.then(({ code }) => died.abort(new Error(`Redis ended with ${code}:\n${server.output()}`)))
  await until('Redis answers', () => answers(chosen), { signal: died.signal })
  return {
    url: `redis://:${PASSWORD}@127.0.0.1:${chosen}`,
    port: chosen,
    kill: async () => void (await server.kill()),
    restart: () => startRedis(chosen),
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = createConnection({ port, host: '127.0.0.1' })
  try {
    await once(socket, 'connect')
    socket.write('PING\r\n')
    const [answer] = await once(socket, 'data')
    return String(answer).includes('NOAUTH')
  } finally {
    socket.destroy()
  }
}
