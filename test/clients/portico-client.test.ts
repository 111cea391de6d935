/** `portico/client` on each runtime. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { expect } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { startChromium } from '../../dev/servers/chromium.ts'
import { startProcess } from '../../dev/servers/process.ts'
import { bin } from '../../dev/servers/runtimes.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { createClient } from '../../src/client/index.ts'
import { clientTest, describeClient, type StartClientSuite } from '../conformance/client.ts'
import { workerdOf } from '../support/entries.ts'

const SUITE = fileURLToPath(new URL('../conformance/client/', import.meta.url))

describeClient('Node', onProcess(process.execPath))
describeClient('Bun', onProcess(bin('bun')))
describeClient('Deno', onProcess(bin('deno'), 'run', '--allow-net'))
describeClient('workerd', onWorkerd)
describeClient('Chromium', onPage)

clientTest('update: waits longer than the service does, if it has the time', async ({ serve, testServer: _ }) => {
  const service = serve({ SERVICE_MESSAGE_TIMEOUT: '1s' })
  let requests = 0
  const fetch = (url: string, init: RequestInit) => {
    requests++
    return service.fetch(new Request(url, init))
  }
  const run = await createClient({ url: 'http://portico.test', fetch }).start('messages')

  const updating = run.update('waitFor', { payload: 'x', timeoutMs: 150_000 })
  await until('the update is sent again', () => requests >= 3)
  await run.signal('add', { payload: 'x' })

  expect(await updating).toEqual(['x'])
  await run.signal('finish')
})

/** The suite with the client as it is in the package, in one file. */
async function bundleSuite(entry: string): Promise<{ file: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-client-'))
  const file = join(folder, 'suite.mjs')
  const client = join(await ensureBundles(), 'client.js')
  const bundle = await rolldown({
    input: join(SUITE, entry),
    platform: 'neutral',
    external: /^node:/,
    plugins: [{ name: 'packaged-client', resolveId: (id) => (id.endsWith('/src/client/index.ts') ? client : null) }],
  })
  await bundle.write({ file, format: 'esm' })
  await bundle.close()
  return { file, remove: () => rm(folder, { recursive: true, force: true }) }
}

function onProcess(command: string, ...args: string[]): StartClientSuite {
  return async (testUrl) => {
    const { file, remove } = await bundleSuite('on-process.ts')
    const suite = await startProcess({ command, args: [...args, file, testUrl] })
    const died = new AbortController()
    void suite.ended.then(({ code }) => {
      if (code !== 0) died.abort(new Error(`The suite exited with ${code}:\n${suite.output()}`))
    })
    return {
      died: died.signal,
      async stop() {
        await suite.kill()
        await remove()
      },
    }
  }
}

async function onWorkerd(testUrl: string) {
  const { file, remove } = await bundleSuite('on-workerd.ts')
  const worker = await workerdOf(file)({})
  const died = new AbortController()
  void fetch(`${worker.url}/?test=${encodeURIComponent(testUrl)}`).then(
    ({ ok }) => ok || died.abort(new Error(`The suite failed:\n${worker.output()}`)),
    () => {}, // the worker was stopped
  )
  return {
    died: died.signal,
    async stop() {
      await worker.stop()
      await remove()
    },
  }
}

async function onPage(testUrl: string) {
  const { file, remove } = await bundleSuite('on-page.ts')
  const browser = await startChromium()
  const page = await browser.newPage()
  const died = new AbortController()
  page.once('pageerror', (error) => died.abort(error))
  await page.goto(`${testUrl}/page`)
  await page.addScriptTag({ type: 'module', path: file })
  return {
    died: died.signal,
    async stop() {
      await browser.close()
      await remove()
    },
  }
}
