/** Redis as a child process. */
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { exitSignal } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { ensureRedis } from './components.ts'
import { startProcess } from './process.ts'

export interface RunningRedis {
  /** `redis://…`, with its password. */
  url: string
  port: number
  /** Sends SIGKILL; the data is lost. */
  kill(): Promise<void>
  /** Call it after `kill`. Starts an empty Redis on the same port. */
  restart(): Promise<RunningRedis>
}

const PASSWORD = 'redis-pass-word'

/**
 * Starts Redis without persistence, on a free port. It is killed when this process exits for any reason. `settings` are
 * further options of the server.
 */
export async function startRedis(port?: number, settings: readonly string[] = []): Promise<RunningRedis> {
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
    ...settings,
  ]
  const server = await startProcess({ command: await ensureRedis(), args })
  await until('Redis responds', () => responds(chosen), { signal: exitSignal(server, 'Redis') })
  return {
    url: `redis://:${PASSWORD}@127.0.0.1:${chosen}`,
    port: chosen,
    kill: async () => void (await server.kill()),
    restart: () => startRedis(chosen, settings),
  }
}

async function responds(port: number): Promise<boolean> {
  const socket = createConnection({ port, host: '127.0.0.1' })
  try {
    await once(socket, 'connect')
    socket.write('PING\r\n')
    const [reply] = await once(socket, 'data')
    return /NOAUTH|PONG/.test(String(reply))
  } finally {
    socket.destroy()
  }
}
