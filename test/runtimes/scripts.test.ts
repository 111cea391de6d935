/** `npm run start:…`: each runtime from source, told the same variables. */
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'
import { freePort } from '../support/ports.ts'
import { startProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const START_MS = 60_000

test.concurrent.for(['start', 'start:bun', 'start:deno', 'start:workerd'])(
  'npm run %s: serves at SERVICE_PORT, for those who have the token, and ends on SIGTERM',
  { timeout: 2 * START_MS },
  async (script) => {
    const { address, httpUrl } = inject('engine')
    const port = await freePort()
    const npm = await startProcess({
      command: 'npm',
      args: ['run', script],
      cwd: ROOT,
      env: {
        ...process.env,
        SERVICE_PORT: String(port),
        SERVICE_CATALOG_ID: 'scripts',
        SERVICE_API_AUTH_TOKEN: 't0ken',
        ENGINE_ADDRESS: address,
        ENGINE_HTTP_URL: httpUrl ?? '',
      },
    })
    const get = (path: string, token: string) => fetch(`http://127.0.0.1:${port}${path}`, { headers: { Authorization: `Basic ${token}` } })
    await until('it is ready', async () => (await get('/ready', '')).ok, { timeoutMs: START_MS }).catch((error: Error) => {
      throw new Error(`${error.message}\n${npm.output()}`)
    })

    const statuses = [(await get('/workflow/nobody/status', 'wrong')).status, (await get('/workflow/nobody/status', 't0ken')).status]
    process.kill(-npm.pid, 'SIGTERM')
    await npm.ended

    expect(statuses).toEqual([401, 404])
    await expect(get('/health', '')).rejects.toThrow('fetch failed')
  },
)
