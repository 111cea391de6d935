/** Runs `npm run start:…` on each runtime with the same variables, and checks what `wrangler deploy` uploads. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { startProcess } from '../../dev/servers/process.ts'
import { bin } from '../../dev/servers/runtimes.ts'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { ANY_INSPECTOR_PORT, untilServing } from '../support/entries.ts'
import { serve } from '../support/serve.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const START_MS = 60_000

test.concurrent.for(['start', 'start:bun', 'start:deno', 'start:workerd'])(
  'npm run %s: the service listens on SERVICE_PORT, requires the token, has the reference page, and exits on SIGTERM',
  { timeout: 2 * START_MS },
  async (script) => {
    const { address, httpUrl } = inject('engine')
    const port = await freePort()
    const npm = await startProcess({
      command: 'npm',
      args: ['run', script, ...(script === 'start:workerd' ? ['--', ...ANY_INSPECTOR_PORT] : [])],
      cwd: ROOT,
      env: {
        ...process.env,
        SERVICE_PORT: String(port),
        SERVICE_CATALOG_ID: 'scripts',
        SERVICE_API_AUTH_TOKEN: 't0ken',
        SERVICE_DOCS_ON: 'true',
        SERVICE_CONSOLE_ON: 'true',
        ENGINE_ADDRESS: address,
        ENGINE_HTTP_URL: httpUrl ?? '',
      },
    })
    const get = (path: string, token: string) =>
      // wrangler would compress.
      fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { Authorization: `Basic ${token}`, 'Accept-Encoding': 'identity' },
      })
    await untilServing(npm, async () => (await get('/ready', '')).ok)

    const statuses = [
      (await get('/workflow/nobody/status', 'wrong')).status,
      (await get('/workflow/nobody/status', 't0ken')).status,
    ]
    const page = await referencePage((path) => get(path, 't0ken'))
    process.kill(-npm.pid, 'SIGTERM')
    await npm.ended

    expect(statuses).toEqual([401, 404])
    expect(page.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 404, 404])
    expect(page).toEqual(await referencePageOfNode())
    await expect(get('/health', '')).rejects.toThrow('fetch failed')
  },
)

/**
 * Responses for the console, its script, the page, two of its files, a name that it does not have,
 * and the asset that workerd reads for the page.
 */
function referencePage(
  get: (path: string) => Promise<Response>,
): Promise<{ status: number; headers: object; text: string }[]> {
  const ofConsole = ['/console/runs', '/console/page.js']
  const ofDocs = ['/docs', '/docs/page.css', '/docs/swagger-ui-bundle.js', '/docs/nope.js', '/docs-page/page.html.json']
  const paths = [...ofConsole, ...ofDocs]
  return Promise.all(
    paths.map(async (path) => {
      const answer = await get(path)
      const { status, headers } = answer
      return {
        status,
        headers: Object.fromEntries([...headers].filter(([name]) => !OF_THE_CONNECTION.has(name))),
        text: status === 200 ? await answer.text() : '',
      }
    }),
  )
}

// And what differs in each response.
const OF_THE_CONNECTION = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  'x-request-id',
])

async function referencePageOfNode(): ReturnType<typeof referencePage> {
  const service = serve({ SERVICE_API_AUTH_TOKEN: 't0ken', SERVICE_DOCS_ON: 'true', SERVICE_CONSOLE_ON: 'true' })
  const headers = { Authorization: 'Basic t0ken' }
  const page = await referencePage((path) => service.fetch(new Request(`http://127.0.0.1${path}`, { headers })))
  await service.close()
  return page
}

// Not concurrent, like the next test: both build in the same folder.
test('npm run start:workerd: the variables in wrangler.toml are not used', { timeout: 2 * START_MS }, async () => {
  const port = await freePort()
  const { SERVICE_CATALOG_ID: _, ENGINE_HTTP_URL: __, ...environment } = process.env
  const npm = await startProcess({
    command: 'npm',
    args: ['run', 'start:workerd', '--', ...ANY_INSPECTOR_PORT],
    cwd: ROOT,
    env: { ...environment, SERVICE_PORT: String(port), SERVICE_API_AUTH_TOKEN: 't0ken' },
  })
  const answer = await untilServing(npm, () => fetch(`http://127.0.0.1:${port}/health`))
  const { message } = (await answer.json()) as { message?: string }
  process.kill(-npm.pid, 'SIGTERM')
  await npm.ended

  expect(message).toMatch(/ENGINE_HTTP_URL.*SERVICE_CATALOG_ID is required/s)
})

test('wrangler deploy: wrangler.toml is valid, and the tested bundle is uploaded', { timeout: START_MS }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-deploy-'))
  const output = await runCommand({
    command: bin('wrangler'),
    args: ['deploy', '--dry-run', '--outdir', join(folder, 'sent')],
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: folder, WRANGLER_SEND_METRICS: 'false' },
  })
  const sent = await readFile(join(folder, 'sent/workerd.js'))
  const names = await readdir(join(folder, 'sent'))
  await rm(folder, { recursive: true })

  expect(output).toContain('--dry-run: exiting now.')
  expect(output).toMatch(/env\.ASSETS/)
  expect(names.toSorted()).toEqual(['README.md', 'workerd.js'])
  expect(sent.equals(await readFile(join(await ensureBundles(), 'workerd.js')))).toBe(true)
})
